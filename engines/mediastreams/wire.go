package mediastreams

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// pieceOf is how many samples a message has: 20 ms.
const pieceOf = 160

// The messages, as the documentation of Twilio's Media Streams has them.
type (
	message struct {
		Event     string   `json:"event"`
		Protocol  string   `json:"protocol,omitempty"`
		Version   string   `json:"version,omitempty"`
		Number    string   `json:"sequenceNumber,omitempty"`
		Start     *start   `json:"start,omitempty"`
		Media     *sound   `json:"media,omitempty"`
		DTMF      *dtmf    `json:"dtmf,omitempty"`
		Mark      *named   `json:"mark,omitempty"`
		Stop      *stopped `json:"stop,omitempty"`
		StreamSID string   `json:"streamSid,omitempty"`
	}
	start struct {
		AccountSID string            `json:"accountSid"`
		StreamSID  string            `json:"streamSid"`
		CallSID    string            `json:"callSid"`
		Tracks     []string          `json:"tracks"`
		Format     format            `json:"mediaFormat"`
		Parameters map[string]string `json:"customParameters"`
	}
	format struct {
		Encoding   string `json:"encoding"`
		SampleRate int    `json:"sampleRate"`
		Channels   int    `json:"channels"`
	}
	sound struct {
		Track     string `json:"track,omitempty"`
		Chunk     string `json:"chunk,omitempty"`
		Timestamp string `json:"timestamp,omitempty"`
		Payload   []byte `json:"payload"` // base64
	}
	dtmf struct {
		Track string `json:"track"`
		Digit string `json:"digit"`
	}
	named struct {
		Name string `json:"name"`
	}
	stopped struct {
		AccountSID string `json:"accountSid"`
		CallSID    string `json:"callSid"`
	}
)

func (m message) bytes() []byte {
	b, _ := json.Marshal(m) // texts and numbers: cannot fail
	return b
}

// takeMessage acts on a message of the far end: media, mark and clear. Others are passed over.
func (s *stream) takeMessage(b []byte) error {
	var m struct {
		Event string `json:"event"`
		Media *sound `json:"media"`
		Mark  *named `json:"mark"`
	}
	if json.Unmarshal(b, &m) != nil || m.Event == "" {
		return fmt.Errorf("%w: no event", engines.ErrGarbage)
	}
	switch m.Event {
	case "media":
		if m.Media == nil {
			return fmt.Errorf("%w: no sound", engines.ErrGarbage)
		}
		return s.says(m.Media.Payload)
	case "mark":
		if m.Mark == nil || m.Mark.Name == "" || len(m.Mark.Name) > nameMost {
			return fmt.Errorf("%w: no mark", engines.ErrGarbage)
		}
		return s.marks(m.Mark.Name)
	case "clear":
		s.clear()
	}
	return nil
}

// says keeps sound of the far end's to be heard.
func (s *stream) says(mu []byte) error {
	if len(mu) == 0 {
		return nil
	}
	s.mu.Lock()
	unheard := len(mu)
	for _, b := range s.bursts {
		unheard += b.feed.Len() - b.feed.Heard()
	}
	if unheard > unheardMost {
		s.mu.Unlock()
		return speech.ErrTooMuchAudio
	}
	s.came = time.Now()
	var fresh *burst
	last := len(s.bursts) - 1
	if last >= 0 && !s.bursts[last].ended && s.bursts[last].feed.Len()+len(mu) > burstMost {
		s.bursts[last].ended = true
		s.bursts[last].feed.End()
	}
	if last < 0 || s.bursts[last].ended {
		s.count++
		fresh = &burst{item: strconv.Itoa(s.count), feed: new(media.Feed)}
		s.bursts = append(s.bursts, fresh)
		last = len(s.bursts) - 1
	}
	s.bursts[last].feed.Write(mu)
	s.mu.Unlock()
	if fresh != nil {
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: fresh.item, Feed: fresh.feed})
	}
	return nil
}

// marks tells when what came so far was heard.
func (s *stream) marks(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.bursts) - 1
	if last < 0 {
		s.echo([]mark{{name: name}})
		return nil
	}
	b := s.bursts[last]
	if len(b.marks) >= marksMost {
		return fmt.Errorf("%w: too many marks", engines.ErrGarbage)
	}
	b.marks = append(b.marks, mark{name, b.feed.Len()})
	return nil
}

// clear takes back what was not heard yet, and tells of its marks.
func (s *stream) clear() {
	s.mu.Lock()
	some := len(s.bursts) > 0
	for _, b := range s.bursts {
		b.feed.End()
		s.echo(b.marks)
	}
	s.bursts = nil
	s.mu.Unlock()
	if some {
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeAudioCleared})
	}
}
