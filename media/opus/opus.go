// Package opus speaks Opus (RFC 6716) by the reference library, libopus, in builds with the tag "opus" and cgo; in all
// others it says that it is not there. The library codes at 8 kHz itself, so nothing is resampled here.
package opus
