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

// Input lines that are commands to the chat. All other lines are the words of the caller.
const (
	transferReachedInput = "/reached"
	transferFailedInput  = "/failed"
	quitInput            = "/quit"
)

// chatSession is a conversation in text with a pathway, without a call.
type chatSession struct {
	client    *client.Client
	pathwayID string
	request   client.ChatRequest
	out       io.Writer
	asJSON    bool
}

// findPathway sets the pathway of the chat. id is the id of a pathway, or of an agent whose pathway is used.
func (c *chatSession) findPathway(ctx context.Context, id string) error {
	if !strings.HasPrefix(id, "agent_") {
		c.pathwayID = id
		return nil
	}
	a, err := c.client.GetAgent(ctx, id)
	if err != nil {
		return err
	}
	if c.pathwayID = a.PathwayID; c.pathwayID == "" {
		return fmt.Errorf("agent %s has no pathway: name a pathway or another agent", id)
	}
	c.request.AgentID = &id
	return nil
}

// requestTurn sends all inputs of the chat so far and prints the answer of the pathway to the last one.
func (c *chatSession) requestTurn(ctx context.Context) (*client.ChatAnswer, error) {
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
		c.printLine("[" + formatAction(x) + "]")
	}
	if a.Ended {
		c.printLine(formatEnd(a))
	}
	return a, nil
}

func (c *chatSession) printLine(line string) { _, _ = fmt.Fprintln(c.out, line) }

func formatAction(x client.ChatAction) string {
	parts := []string{x.Type, x.Target}
	for _, name := range slices.Sorted(maps.Keys(x.Arguments)) {
		parts = append(parts, name+"="+x.Arguments[name])
	}
	if x.Text != "" {
		parts = append(parts, `"`+x.Text+`"`)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func formatEnd(a *client.ChatAnswer) string {
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

// parseChatInput converts an input line to the words of the caller, or to the result of a transfer.
func parseChatInput(line string) client.ChatInput {
	reached, failed := "reached", "failed"
	switch line {
	case transferReachedInput:
		return client.ChatInput{Transfer: &reached}
	case transferFailedInput:
		return client.ChatInput{Transfer: &failed}
	}
	return client.ChatInput{Text: &line}
}

// run reads input lines and prints the answers of the pathway, until the pathway or the input ends.
func (c *chatSession) run(ctx context.Context, in io.Reader, prompt string) error {
	a, err := c.requestTurn(ctx)
	lines := bufio.NewScanner(in)
	for err == nil && !a.Ended {
		if !c.asJSON {
			_, _ = fmt.Fprint(c.out, prompt)
		}
		if !lines.Scan() {
			return lines.Err()
		}
		line := strings.TrimSpace(lines.Text())
		if line == quitInput {
			return nil
		}
		c.request.Inputs = append(c.request.Inputs, parseChatInput(line))
		a, err = c.requestTurn(ctx)
	}
	return err
}

func chatCommand() *cobra.Command {
	var s *client.Client
	var variables []string
	var agentID string
	asJSON := false
	cmd := &cobra.Command{
		Use: "chat PATHWAY|AGENT", Short: "Test a pathway in text: each input line is what the caller says or keys in", Args: cobra.ExactArgs(1),
		Example: "  callboard chat agent_01J… --var name=Ada",
		Long: "Each input line is what the caller says, or DTMF digits; an empty line is silence. While the pathway waits for a transfer, " +
			transferReachedInput + " or " + transferFailedInput + " is its result; " + quitInput + " ends the chat. The chat prints other actions of a call in brackets and does not execute them.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c := &chatSession{client: s, out: cmd.OutOrStdout(), asJSON: asJSON, request: client.ChatRequest{Variables: make(map[string]string)}}
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
	cmd.Flags().StringVar(&agentID, "agent", "", "agent whose language model and role the pathway uses")
	return cmd
}
