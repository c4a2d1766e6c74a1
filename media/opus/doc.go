// Package opus encodes and decodes Opus (RFC 6716) through libopus. Only builds with cgo and the tag "opus" contain
// the codec; see Available. The library runs at 8 kHz, so no resampling is needed.
package opus
