// Appliance
