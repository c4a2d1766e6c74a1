package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
)

// ended are the states of a call that is over.
var ended = []string{"completed", "busy", "no_answer", "failed", "cancelled"} //nolint:gochecknoglobals // a list

func calls() *cobra.Command {
	q := client.ListCallsQuery{}
	list := lister("list", "List calls, newest first", `callboard calls list --status active
callboard calls list --campaign camp_01J… --limit 0 --json`,
		func(f *pflag.FlagSet) {
			f.StringVar(&q.Status, "status", "", "where they stand; active: not over")
			f.StringVar(&q.CampaignID, "campaign", "", "of this campaign")
			f.StringVar(&q.AgentID, "agent", "", "of this agent")
			f.StringVar(&q.Direction, "direction", "", "inbound or outbound")
			f.StringVar(&q.Transcript, "said", "", "in which these words were said; a phrase stands in quotes")
		},
		func(ctx context.Context, c *client.Client) iter.Seq2[client.Call, error] { return c.AllCalls(ctx, q) },
		"ID DIRECTION FROM TO STATUS OUTCOME SECONDS BEGAN", func(c *client.Call) []any {
			return []any{c.ID, c.Direction, c.From, c.To, c.Status, dash(c.Disposition), c.DurationSeconds, when(c.CreatedAt)}
		})
	return group("calls", "Dial, follow, show and end calls",
		dialCommand(), tailCommand(), showCall(), list,
		doer("hangup CALL...", "End live calls", "callboard calls hangup call_01J…", func(*client.Call) string { return "is hung up" },
			func(ctx context.Context, c *client.Client, id string) (*client.Call, error) {
				return c.HangUpCall(ctx, id)
			}),
		recordingCommand())
}

func dialCommand() *cobra.Command {
	var agent, pathway, from string
	var known []string
	wait := false
	cmd := command("dial NUMBER", "Ring a number, and with --wait see what comes of it",
		`callboard calls dial +12025550123 --agent agent_01J… --from +12025550100 --var name=Ada --wait`,
		cobra.ExactArgs(1), func(s *session, args []string) error {
			if agent == "" && pathway == "" {
				return Misuse("--agent or --pathway must say who speaks")
			}
			r := &client.NewCallRequest{To: args[0], AgentID: given(agent), PathwayID: given(pathway), From: given(from), Context: make(map[string]any)}
			for _, v := range known {
				name, value, ok := strings.Cut(v, "=")
				if !ok || name == "" {
					return Misuse("--var must be NAME=VALUE")
				}
				r.Context[name] = value
			}
			call, err := s.PlaceCall(s.ctx(), r)
			if err != nil {
				return err
			}
			if !wait {
				if s.asJSON {
					return s.json(call)
				}
				s.say("%s", call.ID)
				return nil
			}
			return s.follow(call.ID)
		})
	f := cmd.Flags()
	f.StringVar(&agent, "agent", "", "who speaks")
	f.StringVar(&pathway, "pathway", "", "what is said, where no agent is named")
	f.StringVar(&from, "from", "", "the number that is shown; the workspace's first unless said")
	f.StringArrayVar(&known, "var", nil, "NAME=VALUE of a variable; may be given several times")
	f.BoolVar(&wait, "wait", false, "follow the call to its end; exit code 1 unless somebody was reached")
	return cmd
}

func tailCommand() *cobra.Command {
	cmd := command("tail [CALL]", "Follow a call to its end, or all calls as they happen",
		`callboard calls tail                # until Ctrl-C
callboard calls tail call_01J…`,
		cobra.MaximumNArgs(1), func(s *session, args []string) error {
			if len(args) == 1 {
				return s.follow(args[0])
			}
			return s.tail(client.StreamEventsQuery{After: "now", Type: "call.*"})
		})
	return cmd
}

// follow tells the events of a call to its end, and what it came to. It fails
// where nobody was reached.
func (s *session) follow(id string) error {
	for last := ""; ; {
		var err error
		if last, err = s.sofar(id, last); err != nil {
			return err
		}
		call, err := s.GetCall(s.ctx(), id)
		if err != nil {
			return err
		}
		if slices.Contains(ended, call.Status) {
			return s.over(call, last)
		}
		if last == "" { // its first event is on its way
			err = pause(s.ctx(), watchLeast)
		} else {
			last, err = s.toTheEnd(id, last)
		}
		if err != nil {
			return err
		}
	}
}

// sofar tells the events of a call that came behind one, and which was the last.
func (s *session) sofar(id, last string) (string, error) {
	told := last == ""
	for e, err := range s.AllCallEvents(s.ctx(), id, client.ListCallEventsQuery{}) {
		if err != nil {
			return last, err
		}
		if told {
			if err = s.event(&e); err != nil {
				return last, err
			}
			last = e.ID
		}
		told = told || e.ID == last
	}
	return last, nil
}

// lookAgain is how long a stream is believed while a call is waited for.
const lookAgain = time.Minute

// toTheEnd tells what comes of a call behind an event, until the call is over.
// It comes back now and then, as a stream goes on for ever where nobody answers.
func (s *session) toTheEnd(id, last string) (string, error) {
	ctx, cancel := context.WithTimeout(s.ctx(), lookAgain)
	defer cancel()
	for e, err := range s.Events(ctx, client.StreamEventsQuery{After: last, Type: "call.*"}) {
		if err != nil {
			return last, err
		}
		if e.Subject != id {
			continue
		}
		last = e.ID
		if err = s.event(&e); err != nil || e.Type == "call.ended" {
			return last, err
		}
	}
	return last, s.ctx().Err()
}

// over tells what came of a call, and its events that were not told.
func (s *session) over(call *client.Call, last string) error {
	_, err := s.sofar(call.ID, last)
	if err != nil {
		return err
	}
	if s.asJSON {
		err = s.line(call)
	} else {
		s.say("%s %s", call.ID, summary(call))
	}
	if err == nil && call.Status != "completed" {
		err = fmt.Errorf("%s: %s", call.ID, call.Status)
	}
	return err
}

func summary(c *client.Call) string {
	text := fmt.Sprintf("%s: %s, %d s", c.Status, dash(c.EndedReason), c.DurationSeconds)
	if o := c.Outcome; o != nil && o.Result != "" {
		text += ", outcome " + o.Result
	}
	if q := c.Quality; q != nil && q.MOS > 0 {
		text += fmt.Sprintf(", MOS %.1f", q.MOS)
	}
	return text
}

// tail follows events until somebody ends it.
func (s *session) tail(q client.StreamEventsQuery) error {
	if _, err := s.ListEvents(s.ctx(), client.ListEventsQuery{Limit: 1}); err != nil {
		return err // a stream would ask for ever
	}
	for e, err := range s.Events(s.ctx(), q) {
		if err != nil {
			return err
		}
		if err = s.event(&e); err != nil {
			return err
		}
	}
	return s.ctx().Err()
}

// event tells an event in a line.
func (s *session) event(e *client.Event) error {
	if s.asJSON {
		return s.line(e)
	}
	s.say("%s  %-28s %s  %s", when(e.CreatedAt), e.Type, e.Subject, brief(e.Data))
	return nil
}

// brief are the plain fields of an event's data that are short.
func brief(data json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return ""
	}
	var parts []string
	for _, name := range []string{"direction", "from", "to", "status", "disposition", "outcome", "result", "ended_reason", "duration_seconds", "phone", "reason", "code", "error"} {
		if raw, ok := fields[name]; ok {
			if text, plain := plainly(raw); plain && text != "" {
				parts = append(parts, name+"="+text)
			}
		}
	}
	return strings.Join(parts, " ")
}

func showCall() *cobra.Command {
	transcript, ladder, told := false, false, false
	cmd := command("show CALL", "Show a call; with flags what was said, its SIP messages, its events",
		`callboard calls show call_01J…
callboard calls show call_01J… --transcript
callboard calls show call_01J… --sip`,
		cobra.ExactArgs(1), func(s *session, args []string) error {
			switch {
			case transcript:
				return s.transcript(args[0])
			case ladder:
				format := "ladder"
				if s.asJSON {
					format = "json"
				}
				resp, err := s.GetCallMessagesRaw(s.ctx(), args[0], client.GetCallMessagesQuery{Format: format}) //nolint:bodyclose // save does
				if err != nil {
					return err
				}
				return s.save(resp, "-")
			case told:
				return rows(s, s.AllCallEvents(s.ctx(), args[0], client.ListCallEventsQuery{}), 0, "AT TYPE WHAT", func(e *client.Event) []any {
					return []any{when(e.CreatedAt), e.Type, brief(e.Data)}
				})
			}
			c, err := s.GetCall(s.ctx(), args[0])
			if err != nil {
				return err
			}
			return s.show(c)
		})
	cmd.Flags().BoolVar(&transcript, "transcript", false, "what was said")
	cmd.Flags().BoolVar(&ladder, "sip", false, "its SIP messages")
	cmd.Flags().BoolVar(&told, "events", false, "its events")
	cmd.MarkFlagsMutuallyExclusive("transcript", "sip", "events")
	return cmd
}

func (s *session) transcript(id string) error {
	t, err := s.GetTranscript(s.ctx(), id)
	if err != nil {
		return err
	}
	if s.asJSON {
		return s.json(t)
	}
	for _, x := range t.Segments {
		at := time.Duration(x.StartMs) * time.Millisecond
		s.say("%6.1f  %s", at.Seconds(), x.Speaker+": "+x.Text)
	}
	return nil
}

func recordingCommand() *cobra.Command {
	to := ""
	cmd := command("recording CALL", "Download the recording of a call", "callboard calls recording call_01J… -o call.wav", cobra.ExactArgs(1),
		func(s *session, args []string) error {
			resp, err := s.GetRecording(s.ctx(), args[0]) //nolint:bodyclose // save does
			if err != nil {
				return err
			}
			if to == "" {
				to = url.PathEscape(args[0]) + ".wav"
			}
			return s.save(resp, to)
		})
	cmd.Flags().StringVarP(&to, "output", "o", "", "the file that it is written to, - is the standard output; CALL.wav unless said")
	return cmd
}
