package speech

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech/text"
)

// ssmlRequestFor returns the first engine of a chain and the request for the whole text as an SSML document. The engine is
// nil if it does not read SSML, or if the text has no elements of SSML.
func (v *SynthesizerChain) ssmlRequestFor(r Request, chain []*synthesizerEntry) (*synthesizerEntry, Request) {
	if len(chain) == 0 || chain[0] == nil || !chain[0].SSML {
		return nil, r
	}
	document, ok := text.SSML(r.Text, r.Language)
	if !ok {
		return nil, r
	}
	r.Text, r.SSML = document, true
	return chain[0], v.requestFor(chain[0], r)
}

// utteranceStream writes the audio of one text to a feed while it is synthesized.
type utteranceStream struct {
	chain   *SynthesizerChain
	request Request
	feed    *media.Feed
	spoken  *SpokenText
	report  func(EngineFailure)
	failed  *synthesizerEntry // engine that failed with the SSML document and is not tried again; nil: none
}

// run writes the audio of the SSML document, if the first engine reads SSML, or else that of the sentences. After a
// failure of the document, the other engines speak the sentences. An engine that refuses the document as invalid speaks
// the sentences itself.
func (u *utteranceStream) run(ctx context.Context) error {
	sentences := pausedSentences(u.request)
	s, document := u.chain.ssmlRequestFor(u.request, u.chain.healthyChain(u.request))
	if s == nil {
		return u.streamSentences(ctx, sentences)
	}
	u.spoken.set(strings.Join(sentenceTexts(sentences), " "))
	u.spoken.begin(0, 0)
	err := u.chain.sentenceCache.streamWords(ctx, document, u.feed.Write, func(WordTime) {}) // the times count the elements too
	if err == nil || ctx.Err() != nil {
		u.spoken.finish(0, u.feed.Len())
		return err
	}
	if !errors.Is(err, ErrRequestInvalid) {
		u.failed = s
	}
	recovered := len(u.engines(u.request)) > 0
	u.report(EngineFailure{Engine: document.Engine, Err: err, Recovered: recovered})
	if !recovered {
		return err
	}
	u.discardAfterFailure(0)
	return u.streamSentences(ctx, sentences)
}

// engines returns the engines to try for a request.
func (u *utteranceStream) engines(r Request) []*synthesizerEntry {
	return slices.DeleteFunc(slices.Clone(u.chain.healthyChain(r)), func(s *synthesizerEntry) bool { return s != nil && s == u.failed })
}

// discardAfterFailure removes the audio after the first n samples that was not played. If some of it was played, a pause follows.
func (u *utteranceStream) discardAfterFailure(n int) {
	if u.feed.TakeBack(n) > 0 {
		u.feed.Write(silence(sentencePause))
	}
}

// streamSentences writes the audio of all sentences. It synthesizes the next sentence in advance, except for a secret
// text, which must not be cached.
func (u *utteranceStream) streamSentences(ctx context.Context, sentences []pausedSentence) (first error) {
	u.spoken.set(sentenceTexts(sentences)...)
	for i, sentence := range sentences {
		if i+1 < len(sentences) && sentences[i+1].text != "" && !u.request.Secret {
			u.synthesizeAhead(ctx, sentences[i+1].text)
		}
		if i > 0 && u.feed.Len() > 0 {
			u.feed.Write(silence(sentence.pause))
			sentence.pause = 0
		}
		if err := u.streamSentence(ctx, i, sentence); err != nil && first == nil {
			first = err
		}
		if ctx.Err() != nil {
			return first
		}
	}
	return first
}

// synthesizeAhead starts the synthesis of a sentence, whose audio is cached. An error is reported when the sentence itself
// is due.
func (u *utteranceStream) synthesizeAhead(ctx context.Context, sentence string) {
	r := u.request
	r.Text = sentence
	engines := u.engines(r)
	if len(engines) == 0 {
		return
	}
	ahead := u.chain.requestFor(engines[0], r)
	go func() { _, _ = u.chain.sentenceCache.Speak(ctx, ahead) }()
}

// streamSentence writes one sentence to the feed. If an engine fails within the sentence, the audio that was not
// played yet is removed, and the next engine speaks the sentence from its beginning. The pause before the sentence is
// written together with its first audio.
func (u *utteranceStream) streamSentence(ctx context.Context, index int, sentence pausedSentence) (err error) {
	if sentence.text == "" {
		u.feed.Write(silence(sentence.pause))
		return nil
	}
	r := u.request
	r.Text = sentence.text
	tries := u.engines(r)
	for i, s := range tries {
		begin := u.feed.Len()
		u.spoken.begin(index, begin+len(silence(sentence.pause)))
		out := func(mu []byte) {
			if u.feed.Len() == begin && len(mu) > 0 {
				u.feed.Write(silence(sentence.pause))
			}
			u.feed.Write(mu)
		}
		err = u.chain.sentenceCache.streamWords(ctx, u.chain.requestFor(s, r), out, func(w WordTime) { u.spoken.addWord(index, w) })
		if err == nil {
			u.spoken.finish(index, u.feed.Len())
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		name := LocalVoice
		if s != nil {
			name = s.Name
		}
		u.report(EngineFailure{Engine: name, Err: err, Recovered: i+1 < len(tries)})
		u.discardAfterFailure(begin)
		u.spoken.discard(index)
	}
	return err
}
