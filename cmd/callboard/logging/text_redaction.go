package logging

import (
	"regexp"
	"strings"
)

var (
	// A number with a plus sign, or the number in a SIP or tel URI, with or without separators.
	telephone     = regexp.MustCompile(`(?i)(?:\+|%2B|\\u002B)(?:[1-9]\d{6,}|\(?[1-9](?:[ .()-]{0,2}\d){6,14})|\bsips?:(?:\d{7,}|\d(?:-?\d){6,14})|\btel:(?:\d{7,}|\(?\d(?:[.()-]{0,2}\d){6,14})`)
	numberPrefix  = regexp.MustCompile(`(?i)^(?:\+|%2B|\\u002B|sips?:|tel:)`)
	versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+[0-9A-Za-z.-]*$`)

	ownSecrets          = regexp.MustCompile(`(?i)(svc_(?:sk_(?:live|test)|cs|rt)_|whsec_)[A-Za-z0-9._~+/=%-]{12,}`)
	authorizationHeader = regexp.MustCompile(`(?i)(authorization["']?(?: |%20)*(?::|=|%3A)(?: |%20)*["'\[]*(?:(?:basic|bearer|token)(?: |%20|\+)+)?)[^\s"',\]}]{4,}`)
	credentials         = regexp.MustCompile(`(?i)((?:bearer|basic|token)(?: |%20|\+)+)([A-Za-z0-9._~+/=%-]{8,})`)
	jwt                 = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*`)
	secretParameter     = regexp.MustCompile(`(?i)((?:[?&;]|%3F|%26|\\u0026)(?:code|[a-z_-]*(?:key|token|ticket|secret|password))(?:=|%3D))[^&\s"'#\\]+`)
	urlWithUser         = regexp.MustCompile(`://[^\s"]*@`)
	hostAndPort         = regexp.MustCompile(`^(?:\[[^\]]*\]|[^:@]*)(?::\d{0,5})?$`)
)

// secretMarkers reports which kinds of secrets a text may contain. findMarkers sets it with a fast search. The slower
// regular expressions run only if a marker is set.
type secretMarkers struct{ number, ownSecret, credentials, jwt, query, url bool }

func findMarkers(text string) secretMarkers {
	var s secretMarkers
	for i := range len(text) {
		c := text[i]
		if !markerBytes[c] {
			continue
		}
		rest := text[i:]
		switch c | 0x20 { // letters in lower case; punctuation unchanged
		case '+':
			s.number = true
		case '%':
			s.number = s.number || hasPrefixFold(rest, "%2b")
			s.query = s.query || hasPrefixFold(rest, "%3d")
		case '\\' | 0x20:
			s.number = s.number || hasPrefixFold(rest, `\u002b`)
		case '=':
			s.query = true
		case ':':
			s.url = s.url || hasPrefixFold(rest, "://")
			before := text[max(0, i-4):i]
			s.number = s.number || hasSuffixFold(before, "sip") || hasSuffixFold(before, "sips") || hasSuffixFold(before, "tel")
		case '_' | 0x20:
			before := text[max(0, i-5):i]
			s.ownSecret = s.ownSecret || hasSuffixFold(before, "svc") || hasSuffixFold(before, "whsec")
		case 'k': // token
			s.credentials = s.credentials || hasPrefixFold(rest, "ken")
		case 'z': // authorization
			s.credentials = s.credentials || hasPrefixFold(rest, "zation")
		case 'b':
			s.credentials = s.credentials || hasPrefixFold(rest, "bearer") || hasPrefixFold(rest, "basic")
		case 'j': // eyJ
			s.jwt = s.jwt || c == 'J' && hasSuffixFold(text[:i], "ey")
		}
	}
	return s
}

// markerBytes are the bytes at which findMarkers checks for a secret.
var markerBytes = func() (all [256]bool) {
	for _, c := range []byte(`+%\=:_kKzZbBJ`) {
		all[c] = true
	}
	return all
}()

func hasSuffixFold(text, with string) bool {
	return len(text) >= len(with) && strings.EqualFold(text[len(text)-len(with):], with)
}

func hasPrefixFold(text, with string) bool {
	return len(text) >= len(with) && strings.EqualFold(text[:len(with)], with)
}

// newRedactor returns a function that masks secrets in a text, and also telephone numbers if numbers is true.
func newRedactor(numbers bool) func(string) string {
	return func(text string) string {
		s := findMarkers(text)
		if s == (secretMarkers{}) {
			return text
		}
		text = maskSecrets(text, s)
		if numbers && s.number {
			text = maskNumbers(text)
		}
		return text
	}
}

// maskNumbers keeps the first three and the last two digits of a telephone number. That suffices to find a call
// with a known number.
func maskNumbers(text string) string {
	var b strings.Builder
	from := 0
	for _, at := range telephone.FindAllStringIndex(text, -1) {
		found := text[at[0]:at[1]]
		if found[0] == '+' && isVersionOrClockReading(text[:at[0]], found) {
			continue
		}
		head := numberPrefix.FindString(found)
		b.WriteString(text[from:at[0]] + head + maskDigits(found[len(head):]))
		from = at[1]
	}
	return b.String() + text[from:]
}

// isVersionOrClockReading reports whether the digits after a plus sign are not a telephone number. They may be the build date in
// a program version, or the monotonic clock reading that Go prints after " m=".
func isVersionOrClockReading(before, found string) bool {
	return len(found) == len("+20060102") && strings.HasPrefix(found, "+20") && versionNumber.MatchString(before) ||
		strings.HasSuffix(before, " m=") && strings.Contains(found, ".")
}

// maskDigits replaces the middle digits of a number by asterisks.
func maskDigits(number string) string {
	digits := 0
	for _, c := range []byte(number) {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	out, n := []byte(number), 0
	for i, c := range out {
		if c < '0' || c > '9' {
			continue
		}
		if n++; n > 3 && n <= digits-2 {
			out[i] = '*'
		}
	}
	return string(out)
}

// maskSecrets masks the kinds of secrets in s: API keys, signing secrets, credentials, tokens and passwords in URLs.
// A prefix that shows the kind of secret stays.
func maskSecrets(text string, s secretMarkers) string {
	if s.ownSecret {
		text = ownSecrets.ReplaceAllString(text, "$1***")
	}
	if s.credentials {
		text = authorizationHeader.ReplaceAllString(text, "$1***")
		text = credentials.ReplaceAllStringFunc(text, func(found string) string {
			m := credentials.FindStringSubmatch(found)
			if !strings.ContainsAny(m[2], "0123456789=%ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
				return found // a word, as in "basic authentication"
			}
			return m[1] + "***"
		})
	}
	if s.jwt {
		text = jwt.ReplaceAllString(text, "eyJ***")
	}
	if s.query {
		text = secretParameter.ReplaceAllString(text, "$1***")
	}
	if s.url && strings.IndexByte(text, '@') >= 0 {
		text = urlWithUser.ReplaceAllStringFunc(text, maskUser)
	}
	return text
}

// maskUser masks the password in the user part of a URL, or the whole user part if it contains no password. If the
// URL contains a second @, maskUser may mask more than the password.
func maskUser(found string) string { // a host without user part
	body := strings.TrimPrefix(found, "://")
	if end := strings.IndexAny(body, "/?#"); end >= 0 && hostAndPort.MatchString(body[:end]) { // a host with a path, query or fragment and no user part
		return found
	}
	user, _, hasPassword := strings.Cut(body, ":")
	if !hasPassword || strings.ContainsAny(user, "@/") {
		return "://***@"
	}
	return "://" + user + ":***@"
}
