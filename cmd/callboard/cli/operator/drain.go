package operator

import (
	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// printDrain prints whether a node accepts new calls. If err is not nil, it only returns err.
func printDrain(s *cli.Session, now *client.DrainNow, err error) error {
	if err != nil {
		return err
	}
	if s.AsJSON {
		return s.PrintJSON(now)
	}
	s.PrintLinef("%s", describeDrain(now))
	return nil
}

func describeDrain(now *client.DrainNow) string {
	if !now.On {
		return "the node accepts new calls"
	}
	text := "the node accepts no new calls"
	if now.Since != nil {
		text += " since " + cli.FormatTime(*now.Since)
	}
	return text
}

func nodeChoice(id string) *client.NodeChoice {
	if id == "" {
		return nil
	}
	return &client.NodeChoice{NodeID: &id}
}
