// QRScan
