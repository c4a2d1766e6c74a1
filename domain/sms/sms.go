// Package sms holds the rules of text messages: how many segments a text
// takes, which words opt out, which state may follow which, and what phones of
// the test environment do with a message. It knows no carrier and no clock.
package sms

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/callboard/callboard/domain"
)

// MaxBody is the longest text in letters.
const MaxBody = 1600

// MaxMedia is the most media that one message has.
const MaxMedia = 10

const (
	basic    = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	extended = "\f^{}\\[~]|€" // two septets each: an escape stands before them
)

// The room in one segment, and in each of several: 140 octets, less the header
// that joins them (3GPP TS 23.040).
const (
	septets, septetsOfMany = 160, 153
	units, unitsOfMany     = 70, 67
)

// Segments counts what a text takes over the air: in the default alphabet of
// GSM (3GPP TS 23.038) where that has all its letters, in UCS-2 otherwise. An
// escaped letter, or one that is two units of UTF-16, is never cut in two.
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

// countSegments counts segments for letters of sizes. An empty text takes one.
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

// IsOptOut reports whether a message wants no more of them: it is one of the words
// that carriers know, in any case, and nothing else.
func IsOptOut(body string) bool {
	word := strings.ToLower(strings.Trim(body, " \t\r\n.!\"'"))
	return slices.Contains([]string{
		"stop", "stopall", "stop all", "unsubscribe", "cancel", "end", "quit", "revoke", "optout", "opt out", "opt-out", "remove",
	}, word)
}

// Notice is what answers an opt-out, once.
const OptOutNotice = "You will get no more messages and no more calls from this number."

// TestDelivery is what becomes of a message to a phone of the test environment.
type TestDelivery struct {
	Sent    bool                 // a carrier takes it; else it fails
	Report  domain.MessageStatus // delivered or undelivered; "": no report ever comes
	Code    string               // why it failed
	Message string
	Reply   string // what the phone answers
}

// TestDeliveryFor is the fate of a message: the last digits of the simulator's numbers
// say it, every other phone gets what is sent.
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
		return TestDelivery{Code: "invalid_number", Message: "nobody has this number"}
	case "0006":
		return TestDelivery{Code: "trunk_error", Message: "the carrier did not take the message"}
	case "0007":
		good.Reply = "STOP"
	case "0008":
		return TestDelivery{Sent: true, Report: domain.MessageUndelivered, Code: "landline", Message: "the number takes no messages"}
	}
	return good
}
