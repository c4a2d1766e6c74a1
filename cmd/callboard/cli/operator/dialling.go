package operator

import (
	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// StopDialling stops the dialling of all workspaces, so that no new outbound call begins, and prints the new state.
func StopDialling(s *cli.Session, reason string) error {
	why := &client.DiallingStop{}
	if reason != "" {
		why.Reason = &reason
	}
	now, err := s.StopDialling(s.Context(), why)
	return printDialling(s, now, err)
}

// printDialling prints whether an operator has stopped all dialling. If err is not nil, it only returns err.
func printDialling(s *cli.Session, now *client.DiallingNow, err error) error {
	if err != nil {
		return err
	}
	if s.AsJSON {
		return s.PrintJSON(now)
	}
	s.PrintLinef("%s", describeDialling(now))
	return nil
}

func describeDialling(now *client.DiallingNow) string {
	if !now.Stopped {
		return "dialling is active"
	}
	text := "all dialling is stopped"
	if now.Since != nil {
		text += " since " + cli.FormatTime(*now.Since)
	}
	if now.Reason != "" {
		text += ": " + now.Reason
	}
	return text
}
