package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TagMost is the size in bytes of the longest HTML or SSML tag that is recognized.
const TagMost = 2000

// AddressFormat says how the language speaks web addresses.
type AddressFormat struct {
	KeepsPath   bool // a single path segment of letters is spoken behind a scheme too
	SpellsMixed bool // a segment of letters and digits is spoken like a code
}

// domains are top-level domains of addresses that are written without a scheme.
var domains = WordSet(`com org net edu gov mil int info biz io app dev ai co me tv ly gl link shop store online site page
	cloud tech blog news eu example test local us uk ca au nz ie in za de at ch li es mx ar cl pe uy ve ec bo py cr fr be lu
	it sm va pt br ao nl dk se no fi pl cz sk hu ro bg gr tr ru ua jp cn kr sg hk swiss berlin wien cat bayern tel`)

// fileEndings are the endings of file names that are spoken like addresses.
var fileEndings = WordSet("pdf doc docx xls xlsx ppt pptx csv txt jpg jpeg png gif mp3 mp4 wav zip html htm xml json js md yaml")

// WordSet returns the words of a text that are separated by spaces.
func WordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// matchAddress speaks web addresses, e-mail addresses and file names.
func matchAddress(s *Scanner) Match {
	if before := RuneBefore(s.Text, s.Pos); IsWordRune(before) || before == '@' || before == '.' || before == '_' {
		return Match{}
	}
	if token := addressToken(s.Rest()); !strings.ContainsAny(token, ".@:") {
		return Match{}
	}
	token := addressToken(s.Text[s.Pos:min(len(s.Text), s.Pos+TagMost)])
	if size, spoken := s.speakURL(token); size > 0 {
		return Match{Size: size, Spoken: spoken}
	}
	token = token[:min(len(token), Window)]
	if !strings.ContainsAny(token, ".@") {
		return Match{}
	}
	if local, domain, ok := strings.Cut(token, "@"); ok && local != "" {
		if host := hostSize(domain); host > 0 && strings.Contains(domain[:host], ".") && isLocalPart(local) {
			size := len(local) + 1 + host
			return Match{Size: size, Spoken: s.spellAddress(local) + " " + s.Words.At + " " + s.spellAddress(domain[:host])}
		}
	}
	return s.bareHost(token)
}

// addressToken returns the text up to a rune that no address contains.
func addressToken(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return r == ' ' || strings.ContainsRune(`<>"(){}[],;|″`, r)
	})
	if end >= 0 {
		s = s[:end]
	}
	return strings.TrimRight(s, ".!?:'*_")
}

// speakURL speaks an address with a scheme or with "www.".
func (s *Scanner) speakURL(token string) (size int, spoken string) {
	rest := token
	head, tail, schemed := strings.Cut(token[:min(len(token), 16)], "://")
	if schemed && head != "" && LettersAt(head) == len(head) {
		rest = token[len(token[:min(len(token), 16)])-len(tail):]
	}
	www := len(rest) > 4 && strings.EqualFold(rest[:4], "www.")
	if !schemed && !www {
		return 0, ""
	}
	if www {
		rest = rest[4:]
	}
	if at := strings.IndexAny(rest, "@"); at > 0 && at < strings.IndexAny(rest+"/", "/") {
		rest = rest[at+1:]
	}
	host := hostSize(rest)
	if host == 0 {
		return 0, ""
	}
	path := ""
	if !schemed || s.Address.KeepsPath {
		path = singleSegment(rest[host:])
	}
	if schemed && LettersAt(path) != len(path) {
		path = ""
	}
	return len(token), s.speakHost(rest[:host], path)
}

// bareHost speaks a host without a scheme, or a file name.
func (s *Scanner) bareHost(token string) Match {
	host := hostSize(token)
	if host == 0 {
		return s.fileName(token)
	}
	last := token[strings.LastIndexByte(token[:host], '.')+1 : host]
	if !domains[last] || !strings.ContainsFunc(token[:host-len(last)], unicode.IsLetter) {
		return s.fileName(token)
	}
	if first, _, _ := strings.Cut(token[:host], "."); utf8.RuneCountInString(first) < 2 {
		return Match{}
	}
	rest := token[host:]
	if rest != "" && !strings.ContainsRune("/?#:", rune(rest[0])) {
		return s.fileName(token)
	}
	return Match{Size: len(token), Spoken: s.speakHost(token[:host], singleSegment(rest))}
}

// fileName speaks a name such as "invoice_2026.pdf".
func (s *Scanner) fileName(token string) Match {
	dot := strings.LastIndexByte(token, '.')
	if dot < 1 || !fileEndings[strings.ToLower(token[dot+1:])] || strings.ContainsAny(token, "/\\@") {
		return Match{}
	}
	return Match{Size: len(token), Spoken: s.spellAddress(token)}
}

func (s *Scanner) speakHost(host, segment string) string {
	spoken := s.spellAddress(host)
	if segment == "" {
		return spoken
	}
	if s.Address.SpellsMixed && strings.ContainsAny(segment, "0123456789") {
		segment = s.SpellCode(segment)
	} else {
		segment = s.spellAddress(segment)
	}
	return spoken + " " + s.Words.Slash + " " + segment
}

// singleSegment returns the path if it has exactly one segment and no query.
func singleSegment(path string) string {
	path = strings.TrimPrefix(path, "/")
	if strings.ContainsFunc(path, func(r rune) bool { return !IsWordRune(r) && r != '-' && r != '_' }) {
		return ""
	}
	return path
}

// hostSize returns the size of the host at the beginning of s, or 0. A host has labels with a dot between them.
func hostSize(s string) int {
	size, dots := 0, 0
	for size < len(s) {
		r, n := utf8.DecodeRuneInString(s[size:])
		switch {
		case IsWordRune(r) || r == '_':
		case r == '-' && size > 0 && WordAfter(s, size+1):
		case r == '.' && size > 0 && s[size-1] != '.' && s[size-1] != '-' && WordAfter(s, size+1):
			dots++
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		size += n
	}
	if dots == 0 {
		return 0
	}
	return size
}

func isLocalPart(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !IsWordRune(r) && !strings.ContainsRune(".-_+%'", r) })
}

// spellAddress names the signs of an address and speaks its digits one by one.
func (l *Language) spellAddress(s string) string {
	var parts []string
	for len(s) > 0 {
		n := LettersAt(s)
		if n > 0 {
			parts = append(parts, s[:n])
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r >= '0' && r <= '9':
			if l.Cardinal == nil {
				size = DigitsAt(s)
				parts = append(parts, s[:size])
			} else {
				parts = append(parts, l.Words.Digits[r-'0'])
			}
		case r == '.':
			parts = append(parts, l.Words.AddressDot)
		case r == '-':
			parts = append(parts, l.Words.Hyphen)
		case r == '_':
			parts = append(parts, l.Words.Underscore)
		case r == '+':
			parts = append(parts, l.Words.Plus)
		case r == '/':
			parts = append(parts, l.Words.Slash)
		default:
			parts = append(parts, l.Signs[string(r)])
		}
		s = s[size:]
	}
	return strings.Join(parts, " ")
}

// matchHandle speaks the name of an account, such as "@example".
func matchHandle(s *Scanner) Match {
	rest := s.Rest()
	if rest[0] != '@' || WordBefore(s.Text, s.Pos) || !WordAfter(rest, 1) {
		return Match{}
	}
	end := strings.IndexFunc(rest[1:], func(r rune) bool { return !IsWordRune(r) && !strings.ContainsRune("._-", r) })
	if end < 0 {
		end = len(rest) - 1
	}
	name := strings.TrimRight(rest[1:1+end], "._-")
	return Match{Size: 1 + len(name), Spoken: s.Words.At + " " + s.spellAddress(name)}
}

// matchHashtag speaks "#Word" and splits the word at its capital letters.
func matchHashtag(s *Scanner) Match {
	rest := s.Rest()
	if rest[0] != '#' || !IsLetter(RuneAfter(rest, 1)) {
		return Match{}
	}
	if code := rest[1 : 1+codeSize(rest[1:])]; strings.ContainsAny(code, "0123456789") && isCode(code) && strings.ToUpper(code) == code {
		return Match{Size: 1, Spoken: s.Words.Number + " "} // "#A-4471"
	}
	end := strings.IndexFunc(rest[1:], func(r rune) bool { return !IsWordRune(r) && r != '_' })
	if end < 0 {
		end = len(rest) - 1
	}
	var out strings.Builder
	if !strings.EqualFold(LastWord(s.Before()), s.Words.Hashtag) {
		out.WriteString(s.Words.Hashtag + " ")
	}
	previous := ' '
	for tag := rest[1 : 1+end]; tag != ""; {
		if n := DigitsAt(tag); n > 0 {
			out.WriteString(" " + s.speakYearOrNumber(tag[:n]) + " ")
			tag, previous = tag[n:], ' '
			continue
		}
		r, size := utf8.DecodeRuneInString(tag)
		if unicode.IsUpper(r) && unicode.IsLower(previous) {
			out.WriteByte(' ')
		}
		if r == '_' {
			r = ' '
		}
		out.WriteRune(r)
		tag, previous = tag[size:], r
	}
	return Match{Size: 1 + end, Spoken: strings.TrimSpace(out.String())}
}
