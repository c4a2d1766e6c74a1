package lend

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/callboard/callboard/media"
)

var errSilent = errors.New("lend: the other end is silent")

// opening are the options of a session as they are sent.
type opening struct {
	Codecs       []media.Codec  `json:"codecs,omitempty"`
	TheirOrder   bool           `json:"their_order,omitempty"`
	PTime        int            `json:"ptime,omitempty"`
	DTMF         media.DTMFMode `json:"dtmf,omitempty"`
	ComfortNoise bool           `json:"comfort_noise,omitempty"`
	Answerer     bool           `json:"answerer,omitempty"`
	SRTP         media.SRTPMode `json:"srtp,omitempty"`
	NAT          media.NATMode  `json:"nat,omitempty"`
	Confidential bool           `json:"confidential,omitempty"`
	KeysInClear  bool           `json:"keys_in_clear,omitempty"`
	KeyLife      time.Duration  `json:"key_life,omitempty"`
	Networks     []netip.Prefix `json:"networks,omitempty"`
	Far          netip.Addr     `json:"far,omitzero"`
	IdleAfter    time.Duration  `json:"idle_after,omitempty"`
	Record       string         `json:"record,omitempty"` // the recording's name
	After        *media.Memo    `json:"after,omitempty"`
	Age          time.Duration  `json:"age,omitempty"` // of After: clocks of two nodes differ
}

func openingOf(o *media.Options) opening {
	m := opening{
		Codecs: o.Codecs, TheirOrder: o.TheirOrder, PTime: o.PTime, DTMF: o.DTMF, ComfortNoise: o.ComfortNoise, Answerer: o.Answerer,
		SRTP: o.SRTP, NAT: o.NAT, Confidential: o.Confidential, KeysInClear: o.KeysInClear, KeyLife: o.KeyLife, Networks: o.Networks, Far: o.Far,
		IdleAfter: o.IdleAfter, Record: nameOf(o.RecordPath), After: o.After,
	}
	if o.After != nil {
		m.Age = max(time.Since(o.After.At), 0)
	}
	return m
}

const longest = 24 * time.Hour // of a call whose sound goes on here

// options are those that a borrower may have; what none can mean is an error.
func (m *opening) options() (media.Options, error) {
	o := media.Options{
		Codecs: m.Codecs, TheirOrder: m.TheirOrder, PTime: m.PTime, DTMF: m.DTMF, ComfortNoise: m.ComfortNoise, Answerer: m.Answerer,
		SRTP: m.SRTP, NAT: m.NAT, Confidential: m.Confidential, KeysInClear: m.KeysInClear, KeyLife: m.KeyLife, Networks: m.Networks, Far: m.Far,
		IdleAfter: m.IdleAfter, After: m.After,
	}
	sane := len(m.Codecs) <= 16 && slices.Contains([]int{0, 10, 20, 30, 40}, m.PTime) && m.DTMF <= media.DTMFInband &&
		m.SRTP <= media.SRTPRequired && m.NAT <= media.NATOff && m.KeyLife >= 0 && m.IdleAfter >= 0 && len(m.Networks) <= 1000
	if a := m.After; a != nil {
		sane = sane && len(a.Formats) <= 32 && a.Mark >= 0 && a.Mark <= longest && m.Age >= 0 && m.Age <= longest
		a.At = time.Now().Add(-m.Age)
	}
	if !sane {
		return o, fmt.Errorf("%w: options", ErrProtocol)
	}
	return o, nil
}

// reply answers a request.
type reply struct {
	Failed *failure      `json:"failed,omitempty"`
	Body   []byte        `json:"body,omitempty"` // a description
	Count  int           `json:"count,omitempty"`
	Mark   time.Duration `json:"mark,omitempty"`
	Memo   *media.Memo   `json:"memo,omitempty"`
	Stats  *media.Stats  `json:"stats,omitempty"`
	Token  uint64        `json:"token,omitempty"` // of the recording
	Keeps  bool          `json:"keeps,omitempty"` // a recording is being completed
}

// recorded says what became of a recording.
type recorded struct {
	Duration time.Duration `json:"duration,omitempty"`
	Human    []media.Span  `json:"human,omitempty"`
	Gap      *failure      `json:"gap,omitempty"`
	Failed   *failure      `json:"failed,omitempty"` // it is lost
	None     bool          `json:"none,omitempty"`   // there is no file
	Wait     bool          `json:"wait,omitempty"`   // it is not complete
	Size     int64         `json:"size,omitempty"`
}

func recordedOf(r media.Recording) recorded {
	return recorded{Duration: r.Duration, Human: r.Human, Gap: failed(r.Gap), Failed: failed(r.Err), None: r.Path == "" && r.Err == nil}
}

// recording is the same at the borrower.
func (r *recorded) recording(path string) media.Recording {
	switch {
	case r.Failed != nil:
		return media.Recording{Err: r.Failed.err()}
	case r.None:
		return media.Recording{}
	}
	return media.Recording{Path: path, Duration: r.Duration, Human: r.Human, Gap: r.Gap.err()}
}

// wanted asks for a recording.
type wanted struct {
	Name  string `json:"name"`
	Token uint64 `json:"token"`
}

// nameOf is the name of a recording: the folder and the file of its path.
func nameOf(path string) string {
	if path == "" {
		return ""
	}
	dir, file := filepath.Split(filepath.Clean(path))
	return filepath.Base(dir) + "/" + file
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]*/[A-Za-z0-9_-][A-Za-z0-9_.-]*$`)

// checkName refuses what could leave the folder of recordings.
func checkName(name string) error {
	folder := 0
	for folder < len(name) && name[folder] != '/' {
		folder++
	}
	if !namePattern.MatchString(name) || folder > nameMost || len(name)-folder-1 > nameMost {
		return ErrName
	}
	return nil
}
