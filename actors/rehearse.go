package actors

import (
	"context"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

const (
	rehearseMost  = 100             // texts
	rehearseLimit = 6 * time.Second // the first dial waits no longer
	rehearseAside = 4               // texts at once
)

// preparer is a speaker that keeps what it has said.
type preparer interface {
	Prepare(ctx context.Context, r speech.Request) (media.Clip, error)
}

// rehearse has everything spoken that all calls of a campaign say alike, before
// the first of them rings. What cannot be said now is tried again, and told of,
// when a call comes to it.
func (n *Node) rehearse(ctx context.Context, s *domain.Script) {
	voice, ok := n.cfg.Speaker.(preparer)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, rehearseLimit)
	defer cancel()
	texts := pathway.Fixed(s)
	texts = texts[:min(len(texts), rehearseMost)]
	slots, done := make(chan struct{}, rehearseAside), make(chan struct{}, len(texts))
	for _, text := range texts {
		go func() {
			defer func() { done <- struct{}{} }()
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				_, _ = voice.Prepare(ctx, conversation.Request(s, text))
			case <-ctx.Done():
			}
		}()
	}
	for range texts {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}
