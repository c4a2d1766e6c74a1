package dtmf

import "fmt"

// InfoType is the content type of what Info writes.
const InfoType = "application/dtmf-relay"

// Info writes a key press as the body of an INFO.
func Info(code uint8) []byte {
	const millis = toneLen / 8
	return fmt.Appendf(nil, "Signal=%c\r\nDuration=%d\r\n", keys[int(code)%len(keys)], millis)
}
