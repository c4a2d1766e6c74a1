package media

import "time"

// Engine owns the ports and the media clocks of a process.
type Engine struct{}

// NewEngine makes an engine.
func NewEngine(cfg Config) (*Engine, error) { _ = cfg; return &Engine{}, nil }

// Open takes a port pair for a new session; the error wraps ErrNoPorts when none is left.
func (e *Engine) Open(o Options) (*Session, error) { _ = o; return &Session{}, nil }

// Live counts the sessions that are open.
func (e *Engine) Live() int { return 0 }

// Close ends every session.
func (e *Engine) Close() error { return nil }

// Session is the sound of one call.
type Session struct{}

// LocalPort is our RTP port.
func (s *Session) LocalPort() int { return 0 }

// Offer is our SDP offer.
func (s *Session) Offer() []byte { return nil }

// Accept takes the answer to our Offer.
func (s *Session) Accept(answer []byte) error { _ = answer; return nil }

// Answer answers an offer.
func (s *Session) Answer(offer []byte) ([]byte, error) { _ = offer; return nil, nil }

// Begin starts the media clock.
func (s *Session) Begin() {}

// Play plays a clip.
func (s *Session) Play(id uint64, clip Clip) { _, _ = id, clip }

// StopPlaying ends what plays.
func (s *Session) StopPlaying() {}

// SendDigits sends digits.
func (s *Session) SendDigits(id uint64, digits string) { _, _ = id, digits }

// Mark is the position on the media clock.
func (s *Session) Mark() time.Duration { return 0 }

// Stats are the figures so far.
func (s *Session) Stats() Stats { return Stats{} }

// Close ends the session.
func (s *Session) Close() (Stats, <-chan Recording) { return Stats{}, nil }
