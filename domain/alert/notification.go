package alert

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/callboard/callboard/domain"
)

// maxName limits the length of names in notifications.
const maxName = 80

// NotificationLine returns a notification as one line of text. It removes line breaks and control characters from names,
// because tenants choose them.
func NotificationLine(a *domain.Alert, kind Notification) string {
	text := Message(a)
	if kind == NotifyResolved {
		return "resolved: " + text
	}
	return text
}

// Message describes the finding of an alert in one line.
func Message(a *domain.Alert) string {
	name := PlainName(a.Name)
	switch a.Kind {
	case domain.AlertAnswerRate:
		return fmt.Sprintf("%s: %.0f %% of %d calls were answered; the bound is %.0f %%", name, 100*a.Value, a.Count, 100*a.Bound)
	case domain.AlertTrunkDown:
		return fmt.Sprintf("trunk %s is down", name)
	case domain.AlertSpend:
		return fmt.Sprintf("%s: %.0f %% of the daily spend cap are used up; the bound is %.0f %%", name, 100*a.Value, 100*a.Bound)
	case domain.AlertEndpointDisabled:
		return fmt.Sprintf("webhook endpoint %s is disabled", name)
	}
	return string(a.Kind) + ": " + name
}

// FormatMail returns the subject and the body of a notification mail.
func FormatMail(a *domain.Alert, kind Notification, at time.Time) (subject, body string) {
	subject = "[callboard] " + NotificationLine(a, kind)
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(&b, "%-10s %s\n", name+":", value)
		}
	}
	_, _ = fmt.Fprintf(&b, "%s\n\n", NotificationLine(a, kind))
	line("rule", PlainName(a.RuleName)+" ("+a.RuleID+")")
	line("kind", string(a.Kind))
	line("workspace", a.OfWorkspaceID)
	line("subject", a.Subject)
	line("since", a.Since.UTC().Format(time.RFC3339))
	line("now", at.UTC().Format(time.RFC3339))
	return subject, b.String()
}

// PlainName returns a name in one line, without control characters and limited in length.
func PlainName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName]) + "…"
	}
	return name
}
