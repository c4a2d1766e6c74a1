package client_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/client"
)

func Example() {
	ctx := context.Background()
	c := &client.Client{URL: "http://127.0.0.1:8080", Key: os.Getenv("KEY"), Retries: 3}
	if err := runCampaign(ctx, c); err != nil {
		log.Fatal(err)
	}
}

// runCampaign calls two numbers of the test environment and prints the events of the campaign.
func runCampaign(ctx context.Context, c *client.Client) error {
	pathway, err := c.CreatePathway(ctx, &client.NewPathway{
		Name: "Greeting", Start: "hello",
		Nodes: []client.Node{{ID: "hello", Type: "end", Prompt: new("Hello {{name}}, have a good day.")}},
	})
	if err != nil {
		return err
	}
	agent, err := c.CreateAgent(ctx, &client.NewAgent{Name: "Greeter", PathwayID: &pathway.ID})
	if err != nil {
		return err
	}
	campaign, err := c.CreateCampaign(ctx, &client.NewCampaign{
		Name: "Greetings", AgentID: &agent.ID, CallerID: &client.NewCallerID{Number: new("+15005550100")},
		Contacts: []client.NewContact{
			{Phone: "+15005551011", Context: map[string]any{"name": "Ada"}},
			{Phone: "+15005551111", Context: map[string]any{"name": "Basil"}},
		},
	})
	if err != nil {
		return err
	}
	if _, err = c.StartCampaign(ctx, campaign.ID); err != nil {
		return err
	}
	for e, err := range c.Events(ctx, client.StreamEventsQuery{Type: "campaign.*"}) {
		if err != nil {
			return err
		}
		fmt.Println(e.Type)
		if e.Type == "campaign.completed" && e.Subject == campaign.ID {
			return nil
		}
	}
	return ctx.Err()
}

func TestGuideShowsThisExample(t *testing.T) {
	page, err := os.ReadFile("../docs/client.md")
	require.NoError(t, err)
	guide := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, guide)
	own, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	from := strings.Index(string(guide[1]), "// runCampaign calls")
	require.Positive(t, from)
	assert.Contains(t, string(own), string(guide[1])[from:])
}
