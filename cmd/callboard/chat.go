package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// The lines of a chat that are no words.
const (
	transferReached = "/reached"
	transferFailed  = "/failed"
	chatOver        = "/quit"
)

// chat is a pathway that is tried in text.
type chat struct {
	client    *client.Client
	pathwayID string
	request   client.ChatRequest
	out       io.Writer
	asJSON    bool
}

// findPathway sets the pathway: id itself, or the pathway of the agent with this id.
func (c *chat) findPathway(ctx context.Context, id string) error {
	if !strings.HasPrefix(id, "agent_") {
		c.pathwayID = id
		return nil
	}
	a, err := c.client.GetAgent(ctx, id)
	if err != nil {
		return err
	}
	if c.pathwayID = a.PathwayID; c.pathwayID == "" {
		return fmt.Errorf("agent %s has no pathway: there is nothing to walk", id)
	}
	c.request.AgentID = &id
	return nil
}

// turn asks for what the inputs so far lead to and tells it.
func (c *chat) turn(ctx context.Context) (*client.ChatAnswer, error) {
	a, err := c.client.ChatWithPathway(ctx, c.pathwayID, &c.request)
	if err != nil {
		return nil, err
	}
	c.request.ModelAnswers = a.ModelAnswers
	if c.asJSON {
		return a, json.NewEncoder(c.out).Encode(a)
	}
	if !a.Understood {
		c.printLine("(not understood)")
	}
	for _, m := range a.Messages {
		c.printLine("agent: " + m.Text)
	}
	for _, x := range a.Actions {
		c.printLine("[" + actionLine(x) + "]")
	}
	if a.Ended {
		c.printLine(endLine(a))
	}
	return a, nil
}

func (c *chat) printLine(line string) { _, _ = fmt.Fprintln(c.out, line) }

func actionLine(x client.ChatAction) string {
	parts := []string{x.Type, x.Target}
	for _, name := range slices.Sorted(maps.Keys(x.Arguments)) {
		parts = append(parts, name+"="+x.Arguments[name])
	}
	if x.Text != "" {
		parts = append(parts, `"`+x.Text+`"`)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func endLine(a *client.ChatAnswer) string {
	parts := []string{"[ended"}
	for _, f := range []struct{ name, value string }{{"outcome", a.Outcome}, {"intent", a.Intent}, {"notes", a.Notes}, {"reason", a.Reason}} {
		if f.value != "" {
			parts = append(parts, f.name+"="+f.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Variables)) {
		parts = append(parts, name+"="+a.Variables[name])
	}
	return strings.Join(parts, " ") + "]"
}

// chatInput is what a line does.
func chatInput(line string) client.ChatInput {
	reached, failed := "reached", "failed"
	switch line {
	case transferReached:
		return client.ChatInput{Transfer: &reached}
	case transferFailed:
		return client.ChatInput{Transfer: &failed}
	}
	return client.ChatInput{Text: &line}
}

// run chats until the pathway ends or no line is left.
func (c *chat) run(ctx context.Context, in io.Reader, prompt string) error {
	a, err := c.turn(ctx)
	lines := bufio.NewScanner(in)
	for err == nil && !a.Ended {
		if !c.asJSON {
			_, _ = fmt.Fprint(c.out, prompt)
		}
		if !lines.Scan() {
			return lines.Err()
		}
		line := strings.TrimSpace(lines.Text())
		if line == chatOver {
			return nil
		}
		c.request.Inputs = append(c.request.Inputs, chatInput(line))
		a, err = c.turn(ctx)
	}
	return err
}

func chatCommand() *cobra.Command {
	var s *client.Client
	var variables []string
	var agentID string
	asJSON := false
	cmd := &cobra.Command{
		Use: "chat PATHWAY|AGENT", Short: "Try a pathway in text: each line of the input is what the caller says or keys in", Args: cobra.ExactArgs(1),
		Example: "  callboard chat agent_01J… --var name=Ada",
		Long: "Each line of the input is what the caller says, or keys of a phone; an empty line is silence. Where a transfer is awaited, " +
			transferReached + " or " + transferFailed + " says how it went; " + chatOver + " ends the chat. What a call would do besides speaking is shown in brackets and not done.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c := &chat{client: s, out: cmd.OutOrStdout(), asJSON: asJSON, request: client.ChatRequest{Variables: make(map[string]string)}}
			for _, v := range variables {
				name, value, ok := strings.Cut(v, "=")
				if !ok || name == "" {
					return errors.New("--var must be NAME=VALUE")
				}
				c.request.Variables[name] = value
			}
			if err := c.findPathway(cmd.Context(), args[0]); err != nil {
				return err
			}
			if agentID != "" {
				c.request.AgentID = &agentID
			}
			return c.run(cmd.Context(), cmd.InOrStdin(), "> ")
		},
	}
	s = cli.AddClientFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each turn as a JSON object on a line")
	cmd.Flags().StringArrayVar(&variables, "var", nil, "NAME=VALUE of a variable; may be given several times")
	cmd.Flags().StringVar(&agentID, "agent", "", "the agent whose model and part a pathway is tried with")
	return cmd
}
