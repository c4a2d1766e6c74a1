// Package telephony serves the API operations for trunks, phone numbers and phones.
package telephony
