// Package sms implements the rules of text messages: segments, opt-out words, retries over several routes, delivery
// reports, and the behaviour of the test carrier. It has no clock and no I/O.
package sms

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/callboard/callboard/domain"
)

// MaxBody is the maximum length of a text in characters.
const MaxBody = 1600

// MaxMedia is the maximum number of media attachments of a message.
const MaxMedia = 10

const (
	basic    = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	extended = "\f^{}\\[~]|€" // two septets each, with an escape character
)

// Capacity in characters of a message's only segment, and of each of several segments. A segment has 140 bytes, less
// the header that joins segments (3GPP TS 23.040).
const (
	septets, septetsOfMany = 160, 153
	units, unitsOfMany     = 70, 67
)

// Segments returns the number of segments of a text and its encoding. The encoding is the GSM default alphabet (3GPP TS
// 23.038) if it contains all characters, else UCS-2. A segment boundary splits no escaped character or surrogate pair.
func Segments(text string) (n int, encoding domain.MessageEncoding) {
	sizes := make([]int, 0, len(text))
	for _, r := range text {
		switch {
		case strings.ContainsRune(basic, r):
			sizes = append(sizes, 1)
		case strings.ContainsRune(extended, r):
			sizes = append(sizes, 2)
		default:
			return countUCS2Segments(text), domain.UCS2
		}
	}
	return countSegments(sizes, septets, septetsOfMany), domain.GSM7
}

func countUCS2Segments(text string) int {
	sizes := make([]int, 0, len(text))
	for _, r := range text {
		sizes = append(sizes, max(1, utf16.RuneLen(r)))
	}
	return countSegments(sizes, units, unitsOfMany)
}

// countSegments returns the number of segments for characters of the given sizes. one is the capacity of a single
// segment, and many that of each of several segments.
func countSegments(sizes []int, one, many int) int {
	total := 0
	for _, s := range sizes {
		total += s
	}
	if total <= one {
		return 1
	}
	n, left := 1, many
	for _, s := range sizes {
		if s > left {
			n, left = n+1, many
		}
		left -= s
	}
	return n
}

// IsOptOut reports whether a message consists of one of the opt-out words that carriers define, ignoring case.
func IsOptOut(body string) bool {
	word := strings.ToLower(strings.Trim(body, " \t\r\n.!\"'"))
	return slices.Contains([]string{
		"stop", "stopall", "stop all", "unsubscribe", "cancel", "end", "quit", "revoke", "optout", "opt out", "opt-out", "remove",
	}, word)
}

// OptOutNotice is the text of the reply to an opt-out message. It is sent once.
const OptOutNotice = "You will get no more messages and no more calls from this number."

// TestDelivery defines how the test carrier treats a message.
type TestDelivery struct {
	Sent    bool                 // the test carrier accepts the message
	Report  domain.MessageStatus // delivered or undelivered; empty: no report
	Code    string               // error code
	Message string
	Reply   string // reply of the phone
}

// TestDeliveryFor returns how the test carrier treats a message to a number. The last digits of a test carrier number
// select the behaviour. Messages to other numbers are delivered.
func TestDeliveryFor(to string) TestDelivery {
	good := TestDelivery{Sent: true, Report: domain.MessageDelivered}
	if !domain.IsTestCarrierNumber(to) {
		return good
	}
	switch strings.TrimPrefix(to, domain.TestCarrierPrefix) {
	case "0001":
		return TestDelivery{Sent: true, Report: domain.MessageUndelivered, Code: "phone_off", Message: "the phone was off until the message expired"}
	case "0002":
		return TestDelivery{Sent: true}
	case "0004":
		good.Reply = "2"
	case "0005":
		return TestDelivery{Code: "invalid_number", Message: "the number does not exist"}
	case "0006":
		return TestDelivery{Code: "trunk_error", Message: "the carrier did not accept the message"}
	case "0007":
		good.Reply = "STOP"
	case "0008":
		return TestDelivery{Sent: true, Report: domain.MessageUndelivered, Code: "landline", Message: "the number does not receive messages"}
	}
	return good
}
