// Package lend carries the sound of a node's calls on another node. The borrower has the calls and their dialogs; the lender
// has the sockets, clocks, codecs and recorders. Each Session here stands for one of the lender's engine and does what it does,
// over one connection for all of them. It knows neither calls nor who the nodes are: it is handed connections that are
// authenticated already.
//
// Nothing that is called on a media clock waits: frames go into a bounded buffer that one goroutine empties. Sound is dropped
// where it is full; where it stays so, the link ends, and with it the sessions on it. What the lender has recorded until then it
// keeps until it is fetched.
package lend

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/callboard/callboard/media"
)

// protocol is the number of what is spoken here. Nodes of different numbers lend each other nothing.
const protocol = 1

const (
	defaultBeat = 250 * time.Millisecond
	quietMost   = 4 // beats without a sign of the other end: it is gone
	idleBeats   = 8 // beats are so much rarer while there is no session
	answerLimit = time.Second
	helloLimit  = 5 * time.Second

	frameMost    = 4 << 20 // bytes behind the length of a frame
	helloMost    = 4096    // of a frame before it is known who speaks
	sessionsMost = 20000   // of one link
	clipsMost    = 32 << 20
	clipPart     = 128 << 10 // bytes of a clip in one frame
	sayMost      = 3200      // bytes of what a listener says at once: 400 ms
	aheadMost    = 3200      // samples of a feed that are sent and not heard
	digitsMost   = 256
	nameMost     = 128 // of each part of a recording's name

	tickEvery  = 100 * time.Millisecond // how much of feeds was heard
	marksEvery = time.Second
	statsEvery = 5 * time.Second
	loadEvery  = 250 * time.Millisecond
)

// Whatever a link fails with; test with errors.Is.
var (
	// ErrLost: the connection to the lender has ended, or the lender does not answer.
	ErrLost = errors.New("lend: the link is lost")
	// ErrProtocol: the other end speaks another protocol, or breaks this one.
	ErrProtocol = errors.New("lend: protocol")
	// ErrName: a recording cannot have that name.
	ErrName = errors.New("lend: bad name of a recording")
)

// Load is what a node has and wants of sound.
type Load struct {
	Most    int  `json:"most"`    // calls whose sound the lender wants at most
	Live    int  `json:"live"`    // that it has, its own too
	Free    int  `json:"free"`    // port pairs: the share of this borrower
	Leaving bool `json:"leaving"` // it opens no session any more
}

// The kinds of frames.
const (
	// Of both.
	kindHello byte = iota + 1
	kindBeat
)

const (
	// Of the borrower. The first ones are answered.
	kindOpen byte = iota + 16
	kindOffer
	kindAccept
	kindAnswer
	kindAwait
	kindClose
	kindRekey
	kindEarly
	kindBegin
	kindClip
	kindForget
	kindPlay
	kindPlayFeed
	kindFeed
	kindFeedCut
	kindFeedEnd
	kindStop
	kindPause
	kindContinue
	kindHear
	kindDigits
	kindPressed
	kindHold
	kindResume
	kindPauseRecording
	kindResumeRecording
	kindSensitive
	kindBridge
	kindUndo
	kindTap
	kindUntap
	kindSay
)

const (
	// Of the lender.
	kindLoad byte = iota + 96
	kindReply
	kindEvent
	kindHeard
	kindTapped
	kindTapEnd
	kindMarks
	kindStats
	kindFed
	kindRecorded
)

const (
	// Of a connection that fetches recordings.
	kindFetch byte = iota + 160
	kindFile
	kindData
	kindDelete
	kindDeleted
	kindLeft
)

// hello begins a connection, both ways.
type hello struct {
	Protocol int           `json:"protocol"`
	For      string        `json:"for,omitempty"` // of the borrower
	Beat     time.Duration `json:"beat,omitempty"`
	Load     *Load         `json:"load,omitempty"` // of the lender
}

// What a connection is for.
const (
	forSound = "sound"
	forFiles = "files"
)

// sameProtocol is the error where the other end speaks another one.
func sameProtocol(theirs int) error {
	if theirs != protocol {
		return fmt.Errorf("%w: the other node speaks version %d, this one version %d", ErrProtocol, theirs, protocol)
	}
	return nil
}

// said are the errors that keep their meaning over the wire.
var said = map[string]error{
	"ports": media.ErrNoPorts, "codec": media.ErrNoCodec, "sdp": media.ErrBadSDP, "address": media.ErrRefusedAddress,
	"confidential": media.ErrConfidential, "closed": media.ErrClosed, "name": ErrName,
}

// failure is an error on its way.
type failure struct {
	Code string `json:"code,omitempty"`
	Text string `json:"text"`
}

// failed writes an error down; nil stays nil.
func failed(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	for code, is := range said {
		if errors.Is(err, is) {
			f.Code = code
		}
	}
	return f
}

// toldError is one that the other end had.
type toldError struct {
	text string
	is   error
}

// Error is what the other end said.
func (t *toldError) Error() string { return t.text }

// Unwrap is what it means here; nil: nothing that is known.
func (t *toldError) Unwrap() error { return t.is }

// err is the error again.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	return &toldError{f.Text, said[f.Code]}
}

// lost is the error of a link that ended because of another one.
func lost(why error) error {
	if why == nil || errors.Is(why, ErrLost) {
		return ErrLost
	}
	if errors.Is(why, io.EOF) {
		return fmt.Errorf("%w: the other end has closed it", ErrLost)
	}
	return fmt.Errorf("%w: %w", ErrLost, why)
}
