package cli

import (
	"strings"
	"time"
	"unicode"
)

// Clean takes what would steer a terminal out of a text of a stranger.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// when is a time as people read it, in their own zone.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func maybe(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return when(*t)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
