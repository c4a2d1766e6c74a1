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

// chunkSamples is the number of samples in a media message, which has 20 ms of audio.
const chunkSamples = 160

// Messages of the protocol as Twilio's documentation of Media Streams defines them.
type (
	message struct {
		Event     string        `json:"event"`
		Protocol  string        `json:"protocol,omitempty"`
		Version   string        `json:"version,omitempty"`
		Number    string        `json:"sequenceNumber,omitempty"`
		Start     *startMessage `json:"start,omitempty"`
		Media     *mediaMessage `json:"media,omitempty"`
		DTMF      *dtmfMessage  `json:"dtmf,omitempty"`
		Mark      *markMessage  `json:"mark,omitempty"`
		Stop      *stopMessage  `json:"stop,omitempty"`
		StreamSID string        `json:"streamSid,omitempty"`
	}
	startMessage struct {
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
	mediaMessage struct {
		Track     string `json:"track,omitempty"`
		Chunk     string `json:"chunk,omitempty"`
		Timestamp string `json:"timestamp,omitempty"`
		Payload   []byte `json:"payload"` // base64
	}
	dtmfMessage struct {
		Track string `json:"track"`
		Digit string `json:"digit"`
	}
	markMessage struct {
		Name string `json:"name"`
	}
	stopMessage struct {
		AccountSID string `json:"accountSid"`
		CallSID    string `json:"callSid"`
	}
)

func (m message) bytes() []byte {
	b, _ := json.Marshal(m) // strings and numbers: Marshal cannot fail
	return b
}

// takeMessage handles a media, mark or clear message of the server. It ignores other messages.
func (s *stream) takeMessage(b []byte) error {
	var m struct {
		Event string        `json:"event"`
		Media *mediaMessage `json:"media"`
		Mark  *markMessage  `json:"mark"`
	}
	if json.Unmarshal(b, &m) != nil || m.Event == "" {
		return fmt.Errorf("%w: no event", engines.ErrInvalidResponse)
	}
	switch m.Event {
	case "media":
		if m.Media == nil {
			return fmt.Errorf("%w: no audio", engines.ErrInvalidResponse)
		}
		return s.addAudio(m.Media.Payload)
	case "mark":
		if m.Mark == nil || m.Mark.Name == "" || len(m.Mark.Name) > maxMarkName {
			return fmt.Errorf("%w: no mark", engines.ErrInvalidResponse)
		}
		return s.addMark(m.Mark.Name)
	case "clear":
		s.clear()
	}
	return nil
}

// addAudio queues audio of the server for playback.
func (s *stream) addAudio(mu []byte) error {
	if len(mu) == 0 {
		return nil
	}
	s.mu.Lock()
	unheard := len(mu)
	for _, b := range s.bursts {
		unheard += b.feed.Len() - b.feed.Played()
	}
	if unheard > maxUnplayed {
		s.mu.Unlock()
		return speech.ErrTooMuchAudio
	}
	s.lastAudio = time.Now()
	var fresh *burst
	last := len(s.bursts) - 1
	if last >= 0 && !s.bursts[last].ended && s.bursts[last].feed.Len()+len(mu) > maxBurst {
		s.bursts[last].ended = true
		s.bursts[last].feed.End()
	}
	if last < 0 || s.bursts[last].ended {
		s.burstCount++
		fresh = &burst{item: strconv.Itoa(s.burstCount), feed: new(media.Feed)}
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

// addMark sends the mark back to the server when all audio before the mark has been played.
func (s *stream) addMark(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.bursts) - 1
	if last < 0 {
		s.echo([]mark{{name: name}})
		return nil
	}
	b := s.bursts[last]
	if len(b.marks) >= maxMarks {
		return fmt.Errorf("%w: too many marks", engines.ErrInvalidResponse)
	}
	b.marks = append(b.marks, mark{name, b.feed.Len()})
	return nil
}

// clear discards the audio that was not played yet, and sends its marks back to the server.
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
