package domain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
)

func TestOverrideLimitsCallDuration(t *testing.T) {
	t.Parallel()
	for want, c := range map[time.Duration]struct {
		minutes int
		asked   time.Duration
	}{
		5 * time.Second: {60, 5 * time.Second}, time.Hour: {60, 0}, 30 * time.Minute: {0, 0}, 2 * time.Hour: {1, 2 * time.Hour},
	} {
		assert.Equal(t, want, domain.AgentLimits{MaxMinutes: c.minutes}.MaxDuration(c.asked, 30*time.Minute))
	}
}

func TestMachineDetectionOverridePrecedesAgent(t *testing.T) {
	t.Parallel()
	agent := &domain.AgentAMD{Mode: "wait", VoicemailAction: "leave_message", Message: "The agent's."}
	for name, c := range map[string]struct {
		call *domain.CallAMD
		of   *domain.AgentAMD
		want *domain.AgentAMD
	}{
		"nothing":                      {nil, agent, agent},
		"no override, no agent":        {nil, nil, nil},
		"only the mode":                {&domain.CallAMD{Mode: "async"}, agent, &domain.AgentAMD{Mode: "async", VoicemailAction: "leave_message", Message: "The agent's."}},
		"off":                          {&domain.CallAMD{Mode: "off"}, agent, &domain.AgentAMD{Mode: "off", VoicemailAction: "leave_message", Message: "The agent's."}},
		"only the action":              {&domain.CallAMD{Action: "hangup"}, agent, &domain.AgentAMD{Mode: "wait", VoicemailAction: "hangup", Message: "The agent's."}},
		"the action needs detection":   {&domain.CallAMD{Action: "hangup"}, nil, &domain.AgentAMD{Mode: "async", VoicemailAction: "hangup"}},
		"also where the agent is deaf": {&domain.CallAMD{Action: "hangup"}, &domain.AgentAMD{Mode: "off"}, &domain.AgentAMD{Mode: "async", VoicemailAction: "hangup"}},
		"another message":              {&domain.CallAMD{Action: "leave_message", Message: "The call's."}, agent, &domain.AgentAMD{Mode: "wait", VoicemailAction: "leave_message", Message: "The call's."}},
	} {
		assert.Equal(t, c.want, c.call.ApplyTo(c.of), name)
	}
	assert.Equal(t, "The agent's.", agent.Message, "the agent stays as it is")
}

func TestOverridesReplaceAgentFieldByField(t *testing.T) {
	t.Parallel()
	a := domain.Agent{FirstMessage: "Hello.", Language: "en-US", Timezone: "UTC", Voice: domain.Voice{Name: "a", Rate: 2}, LLM: &domain.AgentLLM{Model: "m"}, Limits: domain.AgentLimits{MaxMinutes: 3}}
	assert.Equal(t, a, (*domain.CallOverrides)(nil).ApplyTo(a))
	assert.Equal(t, a, (&domain.CallOverrides{}).ApplyTo(a))
	want := a
	want.Language, want.Voice, want.Limits = "de-DE", domain.Voice{Name: "b"}, domain.AgentLimits{SilenceSeconds: 9}
	assert.Equal(t, want, (&domain.CallOverrides{Language: "de-DE", Voice: &domain.Voice{Name: "b"}, Limits: &domain.AgentLimits{SilenceSeconds: 9}}).ApplyTo(a), "an object as a whole")
}
