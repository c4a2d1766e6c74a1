package actors

import (
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/sip/message"
)

// noteIgnored says of each received message of a trace what of its body was not
// used: parts of other kinds, and lines of the SDP.
func noteIgnored(t *domain.CallTrace) {
	for i := range t.Messages {
		m := &t.Messages[i]
		if m.Out {
			continue
		}
		m.Notes = nil
		parts := message.ReadParts(m.Data)
		for _, part := range parts {
			switch {
			case part.ContentType == "application/sdp":
				m.Notes = append(m.Notes, sdpNotes(part.Body)...)
			case len(parts) > 1:
				m.Notes = append(m.Notes, "the part of type "+strings.ToValidUTF8(part.ContentType, "?")+" was passed over")
			}
		}
	}
}

func sdpNotes(body []byte) []string {
	s, err := sdp.Parse(body)
	if err != nil {
		return []string{err.Error()}
	}
	var notes []string
	for _, x := range s.Ignored {
		notes = append(notes, "SDP "+x.String())
	}
	return notes
}
