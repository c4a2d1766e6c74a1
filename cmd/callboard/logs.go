package main

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/callboard/callboard/configs"
)

// logger writes lines to the standard error, as the settings say, and takes what
// libraries write of their own accord. What must not stand in a log is hidden in
// every line, whoever wrote it and whatever text of a far end it repeats.
func logger(cfg *configs.Config) *slog.Logger {
	log, _ := levelledLogger(cfg)
	return log
}

// levelledLogger is logger, and the level of its lines, which may be changed.
func levelledLogger(cfg *configs.Config) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(cfg.LogLevel)
	log := logTo(os.Stderr, level, cfg.LogFormat == configs.LogJSON)
	slog.SetDefault(log)
	return log, level
}

// logTo writes lines from a level on, as text or as JSON.
func logTo(w io.Writer, level slog.Leveler, asJSON bool) *slog.Logger {
	hideAll, hideSecrets := hiding(true), hiding(false)
	hide := func(text string) string {
		if level.Level() > slog.LevelDebug {
			return hideAll(text)
		}
		return hideSecrets(text) // whoever looks for a fault wants to see numbers
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return veiled(a, asJSON, hide) }}
	if asJSON {
		return slog.New(traceHandler{diskFullHandler{slog.NewJSONHandler(w, o)}})
	}
	return slog.New(traceHandler{diskFullHandler{slog.NewTextHandler(w, o)}})
}

// libraryLines takes what the client of Redis has to say, for each connection
// that fails; the driver tells that Redis is away or back.
type libraryLines struct{}

func (libraryLines) Printf(ctx context.Context, format string, args ...any) {
	slog.Default().DebugContext(ctx, "the client of Redis", slog.String("says", fmt.Sprintf(format, args...)))
}

// veiled is an attribute as it may be written. It stays what it is where nothing
// had to be hidden in what the handler would write of it.
func veiled(a slog.Attr, asJSON bool, hide func(string) string) slog.Attr {
	kind := a.Value.Kind()
	if kind != slog.KindString && kind != slog.KindAny {
		return a
	}
	var text string
	shaped := false
	if kind == slog.KindString {
		text = a.Value.String()
	} else {
		if _, ok := a.Value.Any().(slog.Level); ok {
			return a
		}
		text, shaped = written(a.Value.Any(), asJSON)
	}
	clean := hide(text)
	switch {
	case clean == text:
	case shaped && json.Valid([]byte(clean)):
		a.Value = slog.AnyValue(json.RawMessage(clean))
	default:
		a.Value = slog.StringValue(clean)
	}
	return a
}

// written is what a handler writes of a value; shaped: it is JSON. Bytes are read
// as the text that they may be.
func written(v any, asJSON bool) (text string, shaped bool) {
	_, own := v.(json.Marshaler)
	switch v := v.(type) {
	case []byte:
		return string(v), false
	case error:
		if !asJSON {
			return fmt.Sprintf("%+v", v), false
		}
		if !own {
			return v.Error(), false
		}
	}
	if !asJSON {
		if m, ok := v.(encoding.TextMarshaler); ok {
			if text, err := m.MarshalText(); err == nil {
				return string(text), false
			}
		}
		if b := reflect.ValueOf(v); b.Kind() == reflect.Slice && b.Type().Elem().Kind() == reflect.Uint8 {
			return string(b.Bytes()), false
		}
		return fmt.Sprintf("%+v", v), false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("%+v", v), false
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

var (
	// A number with its plus, or what a SIP or tel URI names; digits in a row, or parted.
	telephone = regexp.MustCompile(`(?i)(?:\+|%2B|\\u002B)(?:[1-9]\d{6,}|\(?[1-9](?:[ .()-]{0,2}\d){6,14})|\bsips?:(?:\d{7,}|\d(?:-?\d){6,14})|\btel:(?:\d{7,}|\(?\d(?:[.()-]{0,2}\d){6,14})`)
	prefix    = regexp.MustCompile(`(?i)^(?:\+|%2B|\\u002B|sips?:|tel:)`)
	release   = regexp.MustCompile(`\d+\.\d+\.\d+[0-9A-Za-z.-]*$`)

	ours        = regexp.MustCompile(`(?i)(svc_(?:sk_(?:live|test)|cs|rt)_|whsec_)[A-Za-z0-9._~+/=%-]{12,}`)
	header      = regexp.MustCompile(`(?i)(authorization["']?(?: |%20)*(?::|=|%3A)(?: |%20)*["'\[]*(?:(?:basic|bearer|token)(?: |%20|\+)+)?)[^\s"',\]}]{4,}`)
	credentials = regexp.MustCompile(`(?i)((?:bearer|basic|token)(?: |%20|\+)+)([A-Za-z0-9._~+/=%-]{8,})`)
	jwt         = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*`)
	query       = regexp.MustCompile(`(?i)((?:[?&;]|%3F|%26|\\u0026)(?:code|[a-z_-]*(?:key|token|ticket|secret|password))(?:=|%3D))[^&\s"'#\\]+`)
	withUser    = regexp.MustCompile(`://[^\s"]*@`)
	port        = regexp.MustCompile(`^(?:\[[^\]]*\]|[^:@]*)(?::\d{0,5})?$`)
)

// signs are what a text may hold that is to be hidden: looked for first, since
// most lines have none of it and regular expressions take their time.
type signs struct{ number, ours, credentials, jwt, query, url bool }

func signsOf(text string) signs {
	var s signs
	for i := range len(text) {
		c := text[i]
		if !telling[c] {
			continue
		}
		rest := text[i:]
		switch c | 0x20 { // letters in lower case, these marks as they are
		case '+':
			s.number = true
		case '%':
			s.number = s.number || begins(rest, "%2b")
			s.query = s.query || begins(rest, "%3d")
		case '\\' | 0x20:
			s.number = s.number || begins(rest, `\u002b`)
		case '=':
			s.query = true
		case ':':
			s.url = s.url || begins(rest, "://")
			before := text[max(0, i-4):i]
			s.number = s.number || ends(before, "sip") || ends(before, "sips") || ends(before, "tel")
		case '_' | 0x20:
			before := text[max(0, i-5):i]
			s.ours = s.ours || ends(before, "svc") || ends(before, "whsec")
		case 'k': // token
			s.credentials = s.credentials || begins(rest, "ken")
		case 'z': // authorization
			s.credentials = s.credentials || begins(rest, "zation")
		case 'b':
			s.credentials = s.credentials || begins(rest, "bearer") || begins(rest, "basic")
		case 'j': // eyJ
			s.jwt = s.jwt || c == 'J' && ends(text[:i], "ey")
		}
	}
	return s
}

// telling are the bytes that a sign is looked for at.
var telling = func() (all [256]bool) {
	for _, c := range []byte(`+%\=:_kKzZbBJ`) {
		all[c] = true
	}
	return all
}()

func ends(text, with string) bool {
	return len(text) >= len(with) && strings.EqualFold(text[len(text)-len(with):], with)
}

func begins(text, with string) bool {
	return len(text) >= len(with) && strings.EqualFold(text[:len(with)], with)
}

// hiding hides secrets in a text, and numbers too.
func hiding(numbers bool) func(string) string {
	return func(text string) string {
		s := signsOf(text)
		if s == (signs{}) {
			return text
		}
		text = withoutSecrets(text, s)
		if numbers && s.number {
			text = withoutNumbers(text)
		}
		return text
	}
}

// withoutNumbers leaves of a telephone number its first three digits and its
// last two: enough to find a call whose number is known.
func withoutNumbers(text string) string {
	var b strings.Builder
	from := 0
	for _, at := range telephone.FindAllStringIndex(text, -1) {
		found := text[at[0]:at[1]]
		if found[0] == '+' && dated(text[:at[0]], found) {
			continue
		}
		head := prefix.FindString(found)
		b.WriteString(text[from:at[0]] + head + starred(found[len(head):]))
		from = at[1]
	}
	return b.String() + text[from:]
}

// dated says whether a plus and digits are what follows a version, the day of a
// build, or the clock of this process in a time.
func dated(before, found string) bool {
	return len(found) == len("+20060102") && strings.HasPrefix(found, "+20") && release.MatchString(before) ||
		strings.HasSuffix(before, " m=") && strings.Contains(found, ".")
}

func starred(number string) string {
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

// withoutSecrets leaves of keys, tokens, credentials, signing secrets and
// passwords of URLs what they are.
func withoutSecrets(text string, s signs) string {
	if s.ours {
		text = ours.ReplaceAllString(text, "$1***")
	}
	if s.credentials {
		text = header.ReplaceAllString(text, "$1***")
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
		text = query.ReplaceAllString(text, "$1***")
	}
	if s.url && strings.IndexByte(text, '@') >= 0 {
		text = withUser.ReplaceAllStringFunc(text, withoutUser)
	}
	return text
}

// withoutUser hides who is named before the last @ of a URL: the password, or
// all of it where there is none. It may hide more than that of a URL with an @
// further on, never less.
func withoutUser(found string) string {
	body := strings.TrimPrefix(found, "://")
	if end := strings.IndexAny(body, "/?#"); end >= 0 && port.MatchString(body[:end]) { // a host and what lies on it
		return found
	}
	user, _, parted := strings.Cut(body, ":")
	if !parted || strings.ContainsAny(user, "@/") {
		return "://***@"
	}
	return "://" + user + ":***@"
}
