package validation

import (
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/sms"
)

// Message adds the problems with a text message. It does not check the phone numbers.
func Message(p *domain.Problems, o *domain.NewMessage) {
	Metadata(p, o.Metadata)
	switch n := utf8.RuneCountInString(o.Body); {
	case strings.TrimSpace(o.Body) == "":
		p.Add("body", domain.CodeValidation, "is required")
	case n > sms.MaxBody:
		p.Add("body", domain.CodeValidation, "has %d characters; %d at most", n, sms.MaxBody)
	case !utf8.ValidString(o.Body) || strings.ContainsRune(o.Body, 0):
		p.Add("body", domain.CodeValidation, "must be text")
	}
	for i, u := range atMost(p, "media", o.Media, sms.MaxMedia) {
		HTTPS(p, indexedParam("media", i), u)
	}
}
