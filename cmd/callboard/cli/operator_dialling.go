package cli

import (
	"github.com/callboard/callboard/client"
)

func stopDialling(s *session, reason string) error {
	why := &client.DiallingStop{}
	if reason != "" {
		why.Reason = &reason
	}
	now, err := s.StopDialling(s.ctx(), why)
	return printDialling(s, now, err)
}

// printDialling prints whether dialling is stopped, or returns err.
func printDialling(s *session, now *client.DiallingNow, err error) error {
	if err != nil {
		return err
	}
	if s.asJSON {
		return s.json(now)
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
