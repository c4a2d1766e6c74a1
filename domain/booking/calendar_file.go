package booking

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

const icsTime = "20060102T150405Z"

// maxLine is the maximum length of a line in a calendar file in bytes, without its line break (RFC 5545 §3.1).
const maxLine = 75

// FormatICS returns an appointment as a calendar file (RFC 5545). All times are in UTC. SEQUENCE increases with
// each change, so that a newer file replaces an older one.
func FormatICS(a *domain.Appointment, now time.Time) string {
	status := "TENTATIVE"
	switch a.Status {
	case domain.AppointmentConfirmed, domain.AppointmentCompleted, domain.AppointmentNoShow:
		status = "CONFIRMED"
	case domain.AppointmentCancelled:
		status = "CANCELLED"
	case domain.AppointmentBooked:
	}
	summary := a.Provider
	if a.Type != "" {
		summary = a.Type + ": " + a.Provider
	}
	lines := []string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Callboard//Appointments//EN", "CALSCALE:GREGORIAN", "METHOD:PUBLISH",
		"BEGIN:VEVENT", "UID:" + a.ID, "SEQUENCE:" + strconv.Itoa(a.Sequence), "DTSTAMP:" + now.UTC().Format(icsTime),
		"CREATED:" + a.CreatedAt.UTC().Format(icsTime), "LAST-MODIFIED:" + a.UpdatedAt.UTC().Format(icsTime),
		"DTSTART:" + a.Datetime.UTC().Format(icsTime), "DTEND:" + a.EndsAt.UTC().Format(icsTime),
		"SUMMARY:" + escapeICS(summary), "DESCRIPTION:" + escapeICS(a.Notes), "STATUS:" + status, "END:VEVENT", "END:VCALENDAR",
	}
	var b strings.Builder
	for _, l := range lines {
		if l != "DESCRIPTION:" {
			writeFolded(&b, l)
		}
	}
	return b.String()
}

func escapeICS(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`).Replace(text)
}

// writeFolded writes a line and breaks it if it is too long, never within a character.
func writeFolded(b *strings.Builder, line string) {
	room := maxLine
	for len(line) > room {
		n := room
		for !utf8.RuneStart(line[n]) {
			n--
		}
		b.WriteString(line[:n] + "\r\n ")
		line, room = line[n:], maxLine-1
	}
	b.WriteString(line + "\r\n")
}
