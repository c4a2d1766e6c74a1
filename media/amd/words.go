package amd

import "strings"

// phrases are typical words of machines, in lower case without punctuation. The first match counts. The order matters,
// because a screening service can also mention a tone, and a voicemail can also offer keys.
var phrases = []struct {
	class Class
	said  []string
}{
	{Unavailable, []string{
		"not in service", "no longer in service", "has been disconnected", "number you have dialed is not", "number you dialed is not",
		"cannot be completed as dialed", "is not a working number",
	}},
	{CallScreening, []string{
		"screening service", "screening assistant", "state your name and", "say your name and", "record your name and the reason",
		`who is calling and why`, "see if this person is available",
	}},
	{Voicemail, []string{
		"leave a message", "leave your message", "leave me a message", "leave your name", "after the tone", "after the beep", "at the tone",
		"voice mail", "voicemail", "mailbox", "you have reached the voice", "cant come to the phone", "not available right now",
		"unable to take your call", "record your message",
	}},
	{IVR, []string{
		"press one", "press two", "press 1", "press 2", "press zero", "press 0", "press pound", "following options", "main menu",
		"dial the extension", "dial your party", "for sales", "menu options have changed",
	}},
}

// ClassifyWords classifies an answer by its transcript. It returns Unknown if the text has no typical phrase of a machine.
func ClassifyWords(text string) Class {
	var b strings.Builder
	space := true
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
			space = false
		case r == '\'' || r == '’':
		case !space:
			b.WriteByte(' ')
			space = true
		}
	}
	said := b.String()
	for _, p := range phrases {
		for _, words := range p.said {
			if strings.Contains(said, words) {
				return p.class
			}
		}
	}
	return Unknown
}
