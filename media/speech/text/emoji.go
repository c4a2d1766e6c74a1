package text

import (
	"strings"
	"unicode"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// emoticons are faces of ASCII characters. The first character of each is ":" or ";".
var emoticons = []string{":-)", ":-(", ";-)", ":-D", ":-P", ":-/", ":'(", ":)", ":(", ";)", ":D", ":P"}

// removeEmoji removes emoji, pictographs and emoticons. The digit of a keycap emoji stays.
func removeEmoji(s string) string {
	s = strings.Map(func(r rune) rune {
		if isEmoji(r) {
			return -1
		}
		return r
	}, s)
	if !strings.ContainsAny(s, ":;") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		size := emoticonAt(s, i)
		if size == 0 {
			out.WriteByte(s[i])
			size = 1
		}
		i += size
	}
	return out.String()
}

// emoticonAt returns the size of the emoticon at s[at:], or 0. An emoticon stands behind a space or punctuation.
func emoticonAt(s string, at int) int {
	if s[at] != ':' && s[at] != ';' || grammar.WordBefore(s, at) {
		return 0
	}
	for _, e := range emoticons {
		if strings.HasPrefix(s[at:], e) && !grammar.WordAfter(s, at+len(e)) {
			return len(e)
		}
	}
	return 0
}

// isEmoji reports whether the rune is an emoji, a part of one, or a symbol without a usual name.
func isEmoji(r rune) bool {
	switch {
	case r < 0xA9:
		return false
	case r == '©' || r == '®' || r == '™' || r == '\u200D':
		return true
	case r >= 0xFE00 && r <= 0xFE0F || r == 0x20E3: // variation selectors and the frame of a keycap
		return true
	case r == '•' || r == '→' || grammar.IsPrivate(r):
		return false
	case r >= 0x1F000 || unicode.Is(unicode.Co, r):
		return !unicode.IsLetter(r) && !unicode.IsMark(r)
	}
	return unicode.Is(unicode.So, r) && r != '°' && r != '¦'
}
