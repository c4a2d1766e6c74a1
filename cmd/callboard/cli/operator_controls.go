package cli

import (
	"errors"

	"github.com/callboard/callboard/client"
)

func stopDialling(s *session, reason string) error {
	why := &client.DiallingStop{}
	if reason != "" {
		why.Reason = &reason
	}
	now, err := s.StopDialling(s.ctx(), why)
	return s.dialling(now, err)
}

func (s *session) dialling(now *client.DiallingNow, err error) error {
	if err != nil || s.asJSON {
		return errors.Join(err, s.jsonOf(now, err))
	}
	s.say("%s", diallingWords(now))
	return nil
}

func diallingWords(now *client.DiallingNow) string {
	if !now.Stopped {
		return "people are rung"
	}
	text := "all dialling is stopped"
	if now.Since != nil {
		text += " since " + when(*now.Since)
	}
	if now.Reason != "" {
		text += ": " + now.Reason
	}
	return text
}

func (s *session) drained(now *client.DrainNow, err error) error {
	if err != nil || s.asJSON {
		return errors.Join(err, s.jsonOf(now, err))
	}
	s.say("%s", drainWords(now))
	return nil
}

func drainWords(now *client.DrainNow) string {
	if !now.On {
		return "the node takes calls"
	}
	text := "the node takes no calls"
	if now.Since != nil {
		text += " since " + when(*now.Since)
	}
	return text
}
