package cli

import (
	"github.com/callboard/callboard/client"
)

// printDrain prints whether a node takes calls, or returns err.
func printDrain(s *session, now *client.DrainNow, err error) error {
	if err != nil {
		return err
	}
	if s.asJSON {
		return s.json(now)
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

func nodeChoice(id string) *client.NodeChoice {
	if id == "" {
		return nil
	}
	return &client.NodeChoice{NodeID: &id}
}
