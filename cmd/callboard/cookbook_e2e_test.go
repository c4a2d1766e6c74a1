package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/llm/llmtest"
	"github.com/callboard/callboard/sip/siptest"
)

// recipe is a pathway of the cookbook with its test scenarios.
type recipe struct{ pathway, scenarios string }

func readRecipes(t *testing.T, page string) (all []recipe) {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?ms)^```json pathway\n(.*?)^```\n\n```json scenarios\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, recipe{m[1], m[2]})
	}
	require.Len(t, codeBlocks(t, page, "json pathway"), len(all), "a recipe without scenarios")
	return all
}

// conciergeModel is a fake language model that knows the opening hours and offers a transfer to the manager.
func conciergeModel(_ int, r *llmtest.Request) llmtest.Reply {
	person := slices.IndexFunc(r.Names(), func(name string) bool { return strings.Contains(name, "person") })
	switch last := r.Last(); {
	case strings.Contains(last, "Mondays"):
		return llmtest.ChunkedReply("We open at nine on Mondays.")
	case strings.Contains(last, "manager") && person >= 0:
		return llmtest.Reply{Calls: []llmtest.Call{{ID: "1", Name: r.Names()[person], Arguments: "{}"}}}
	}
	return llmtest.ChunkedReply("What else?")
}

// TestCookbookRecipesPassTheirScenarios stores each recipe, runs its scenarios and executes the commands around
// them.
func TestCookbookRecipesPassTheirScenarios(t *testing.T) {
	t.Parallel()
	engines := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(engines, []byte("engines:\n  local: {kind: openai, url: "+llmtest.New(t, conciergeModel).URL+", llm: {model: tiny}}\nllm: [local]\n"), 0o600))
	cookbook, migration := readRecipes(t, "docs/pathways.md"), readRecipes(t, "docs/migration.md")
	require.GreaterOrEqual(t, len(cookbook), 9)
	s := newRaceFreeService(t, "CALLBOARD_ENGINES_FILE="+engines)
	blocks := append(codeBlocks(t, "docs/pathways.md", "sh run"), codeBlocks(t, "docs/migration.md", "sh run")...)
	blocks = append(blocks, codeBlocks(t, "docs/webhooks.md", "sh run")...)
	output := s.runBlocks(t.TempDir(), blocks, "", "TEST_KEY="+s.testKey(), "HOOK_URL="+s.receiver.url, "PATH="+filepath.Dir(s.binary)+":"+os.Getenv("PATH"))
	require.Len(t, output, len(blocks))
	assert.Equal(t, "True\nok   tells the hours (1 of 1)\n", output.outputOf(t, blocks, "callboard test"))
	assert.Equal(t, "voicemail voicemail\n", output.outputOf(t, blocks, "leave_message"))
	assert.Equal(t, "busy\n", output.outputOf(t, blocks, "your order has been sent"))

	assert.Equal(t, "True\n", output.outputOf(t, blocks, `"event_type": "call.ended"`))
	assert.Equal(t, "call\ncall.ended delivered 204\ncall.started delivered 204\n", output.outputOf(t, blocks, `"name": "hooked"`))
	assert.Equal(t, "another one, from tomorrow on alone\n", output.outputOf(t, blocks, "NEXT_SECRET"))
	assert.Equal(t, "paused\nactive\n", output.outputOf(t, blocks, "/pause"))
	assert.Equal(t, "1 0\n", output.outputOf(t, blocks, "/replay"))

	s.key = s.testKey()
	ids := strings.NewReplacer(
		"$TOOL", s.api("POST", "/v1/tools", object{"name": "charge", "description": "Charges a card.", "http": object{"url": s.receiver.url}})["id"].(string),
		"$KB", s.api("POST", "/v1/knowledge-base", object{"name": "house", "sources": []object{{"type": "text", "name": "hours", "text": "We open at nine on Mondays."}}})["id"].(string),
	)
	for _, r := range append(cookbook, migration...) {
		pathway := ids.Replace(r.pathway)
		var named struct{ Name string }
		require.NoError(t, json.Unmarshal([]byte(pathway), &named), "%s", pathway)
		report := s.api("POST", "/v1/pathways/validate", pathway)
		require.Equal(t, true, report["valid"], "%s: %v", named.Name, report)
		assert.Empty(t, report["warnings"], named.Name)
		id := s.api("POST", "/v1/pathways", pathway)["id"].(string)
		played := s.api("POST", "/v1/pathways/"+id+"/test", r.scenarios)
		text, err := json.MarshalIndent(played["scenarios"], "", "  ")
		require.NoError(t, err)
		assert.Equal(t, true, played["passed"], "%s: %s", named.Name, text)
	}
}

func TestLoadTestingGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := codeBlocks(t, "docs/load-testing.md", "sh run")
	require.GreaterOrEqual(t, len(blocks), 4)
	pack, err := filepath.Abs("../../deploy/sipp")
	require.NoError(t, err)
	s := newRaceFreeService(t)
	output := s.runBlocks(t.TempDir(), blocks, "",
		"SIP=127.0.0.1:"+strconv.Itoa(s.sip), "PACK="+pack, "COUNT=6", "FAR_PORT="+strconv.Itoa(siptest.Port(t)), "NEAR_PORT="+strconv.Itoa(siptest.Port(t)),
		"SOUND_PORT="+strconv.Itoa(siptest.MediaPorts100(t)), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	require.Len(t, output, len(blocks))
	assert.Regexp(t, `^completed 6 \{.*'completed': 6`, output.outputOf(t, blocks, "/v1/campaigns"))
	assert.Equal(t, "6 calls came in\n", output.outputOf(t, blocks, "uac-call.xml"))
	assert.Equal(t, "completed [503, 200]\n", output.outputOf(t, blocks, "uas-503.xml"))
}
