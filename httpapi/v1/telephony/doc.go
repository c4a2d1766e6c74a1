// Package telephony serves the operations of trunks, phone numbers, phones.
package telephony
