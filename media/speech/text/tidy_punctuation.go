package text

import (
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// tidy collapses the spaces and the punctuation that removals leave behind.
func tidy(s string, l *grammar.Language) string {
	var out strings.Builder
	out.Grow(len(s))
	space := false
	last := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r == ' ' {
			space = true
			continue
		}
		if r == '.' && !space && endsAbbreviation(out.String()) {
			out.WriteByte('.')
			last = '.'
			continue
		}
		if strings.ContainsRune(".,?!:;", r) {
			var run rune
			run, i = punctuationRun(s, i, r)
			if last == 0 || last == run && run != '!' && run != '?' {
				continue
			}
			if space && (l.SpacedMarks && strings.ContainsRune("?!:;", run)) {
				out.WriteByte(' ')
			}
			out.WriteRune(run)
			last, space = run, false
			continue
		}
		if space && out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		last, space = r, false
	}
	return strings.TrimRight(out.String(), " ,")
}

// endsAbbreviation reports whether the text ends in a letter behind a period, as in "p.m".
func endsAbbreviation(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return grammar.IsLetter(r) && strings.HasSuffix(s[:len(s)-size], ".")
}

// punctuationRun reads the marks behind r and returns the mark that stays: the strongest of a run.
func punctuationRun(s string, i int, r rune) (mark rune, end int) {
	for j := i; j < len(s); {
		next, size := utf8.DecodeRuneInString(s[j:])
		if next == ' ' {
			j += size
			continue
		}
		if !strings.ContainsRune(".,?!:;", next) {
			break
		}
		if weight(next) >= weight(r) {
			r = next
		}
		j += size
		i = j
	}
	return r, i
}

// weight orders punctuation by the length of the pause.
func weight(r rune) int {
	switch r {
	case ',':
		return 0
	case ';', ':':
		return 1
	case '.':
		return 2
	}
	return 3
}
