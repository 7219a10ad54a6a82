// COSE
