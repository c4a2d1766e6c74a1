package validation

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/webhook"
)

// SMSGateway returns all problems with an SMS gateway. An empty secret is valid, because the service then generates
// the secret.
func SMSGateway(g *domain.SMSGateway) domain.Problems {
	var p domain.Problems
	Text(&p, "name", g.Name, true, MaxName)
	Metadata(&p, g.Metadata)
	HTTPS(&p, "url", g.URL)
	if g.Secret != "" {
		webhook.CheckSecret("secret", g.Secret, &p)
	}
	g.Prefixes = orEmpty(g.Prefixes)
	for i, x := range atMost(&p, "prefixes", g.Prefixes, MaxPrefixes) {
		if !prefix.MatchString(x) {
			p.Add(indexedParam("prefixes", i), domain.CodeValidation, "%q is not the beginning of a number (e.g. +1202)", shorten(x))
		}
	}
	checkBetween(&p, "priority", g.Priority, 0, 65535)
	return p
}
