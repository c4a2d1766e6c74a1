package message

import (
	"strconv"
	"strings"
)

// ParseDTMFRelay reads an application/dtmf-relay body with lines such as "Signal=5" and "Duration=160". It returns
// the key, or 0 if the body has none, and the duration in milliseconds. Default duration: 160.
func ParseDTMFRelay(body []byte) (key byte, duration int) {
	duration = 160
	for line := range strings.Lines(string(body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(strings.TrimSpace(name), "signal"):
			key = ParseDTMFKey(value)
		case strings.EqualFold(strings.TrimSpace(name), "duration"):
			if n, err := strconv.ParseUint(value, 10, 16); err == nil {
				duration = int(n)
			}
		}
	}
	return key, duration
}

// ParseDTMFKey returns the key that a text names. The text "10" stands for * and "11" for #. It returns 0 if the text
// names no key.
func ParseDTMFKey(s string) byte {
	switch s = strings.ToUpper(s); {
	case s == "10":
		return '*'
	case s == "11":
		return '#'
	case len(s) == 1 && strings.Contains("0123456789*#ABCD", s):
		return s[0]
	}
	return 0
}
