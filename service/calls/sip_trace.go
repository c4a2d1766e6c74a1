package calls

import (
	"context"
	"errors"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/sip/message"
)

// CallTrace returns the SIP messages of a call. For a live call, it returns the messages so far.
func (s *Service) CallTrace(ctx context.Context, p domain.Principal, id string) (*domain.CallTrace, error) {
	t, err := s.findTrace(ctx, p, id)
	if err != nil {
		return nil, err
	}
	addIgnoredPartNotes(t)
	return t, nil
}

func (s *Service) findTrace(ctx context.Context, p domain.Principal, id string) (*domain.CallTrace, error) {
	c, err := s.Call(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if !c.Final() {
		if t := s.cfg.Traces.Trace(c); t != nil {
			return t, nil
		}
	}
	row := &domain.TraceRow{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err := s.store.Get(ctx, row); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, commit.StoreError(err)
	}
	return row.Unpack()
}

// addIgnoredPartNotes adds notes to the received messages of a trace. A note names a body part or an SDP line that the
// SIP stack ignored.
func addIgnoredPartNotes(t *domain.CallTrace) {
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
				m.Notes = append(m.Notes, "the part of type "+strings.ToValidUTF8(part.ContentType, "?")+" was ignored")
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
