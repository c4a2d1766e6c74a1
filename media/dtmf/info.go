package dtmf

import "fmt"

// InfoType is the content type of the SIP INFO body that Info writes.
const InfoType = "application/dtmf-relay"

// InfoBody returns the SIP INFO body that reports a digit by its event code.
func InfoBody(code uint8) []byte {
	const millis = toneLen / 8
	return fmt.Appendf(nil, "Signal=%c\r\nDuration=%d\r\n", keys[int(code)%len(keys)], millis)
}
