package validation

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/callboard/callboard/domain"
)

// Limits of the fields of an agent.
const (
	MaxFirstMessage   = 4000
	maxSilenceSeconds = 600
	maxAgentMinutes   = 240
	maxRingSeconds    = 60
	MaxDestinations   = 100

	defaultSMSConversationMinutes, maxSMSConversationMinutes = 60, 7 * 24 * 60
	defaultSMSConversationReplies, maxSMSConversationReplies = 20, 100
)

// holdMusic matches the name of an audio file. The code that opens the file accepts only files in the prompt folder.
var holdMusic = regexp.MustCompile(`^wav:[A-Za-z0-9][A-Za-z0-9._/-]{0,95}\.wav$`)

var language = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// AgentDefaults sets the omitted fields of an agent to their defaults.
func AgentDefaults(a *domain.Agent) {
	if a.Language == "" {
		a.Language = "en-US"
	}
	if a.Timezone == "" {
		a.Timezone = "UTC"
	}
	if h := a.OnInbound; h != nil && h.TimeoutMs == 0 {
		h.TimeoutMs = stdHookTimeout
	}
	if a.AMD != nil && a.AMD.Mode == "" {
		a.AMD.Mode = "off"
	}
	if a.Analysis != nil {
		setFieldDefaults(a.Analysis.Fields)
	}
	if t := a.SMS; t != nil {
		t.TimeoutMinutes, t.MaxReplies = cmp.Or(t.TimeoutMinutes, defaultSMSConversationMinutes), cmp.Or(t.MaxReplies, defaultSMSConversationReplies)
	}
}

// Agent returns all problems with an agent whose defaults are set.
func Agent(a *domain.Agent) domain.Problems {
	var p domain.Problems
	Text(&p, "name", a.Name, true, MaxName)
	Metadata(&p, a.Metadata)
	Extension(&p, a.Extension, false)
	a.PathwayID = ID(&p, "pathway_id", domain.PrefixPathway, a.PathwayID)
	if a.PathwayID == "" && strings.TrimSpace(a.FirstMessage) == "" && strings.TrimSpace(a.SystemPrompt) == "" && len(p) == 0 {
		p.Add("pathway_id", domain.CodeValidation, "pathway_id, first_message or system_prompt is required: the agent would have nothing to say")
	}
	Prose(&p, "first_message", a.FirstMessage, MaxFirstMessage)
	Prose(&p, "system_prompt", a.SystemPrompt, MaxSystemPrompt)
	if !language.MatchString(a.Language) {
		p.Add("language", domain.CodeValidation, "%q is not a language tag (e.g. en-US)", shorten(a.Language))
	}
	Zone(&p, "timezone", a.Timezone)
	checkVoice(&p, "voice", &a.Voice)
	for i := range atMost(&p, "languages", a.Languages, MaxLanguages) {
		l := &a.Languages[i]
		if !language.MatchString(l.Language) {
			p.Add(indexedParam("languages", i)+".language", domain.CodeValidation, "%q is not a language tag (e.g. en-US)", shorten(l.Language))
		}
		checkVoice(&p, indexedParam("languages", i)+".voice", &l.Voice)
	}
	checkDestinations(&p, a.Transfer.Destinations)
	if m := a.Transfer.HoldMusic; m != "" && m != domain.HoldSilence && m != domain.HoldTone && (!holdMusic.MatchString(m) || strings.Contains(m, "..")) {
		p.Add("transfer.hold_music", domain.CodeValidation, "must be silence, tone or wav:NAME.wav, a file of the prompts")
	}
	if a.Inbound.Answer != "" {
		checkOneOf(&p, "inbound.answer", a.Inbound.Answer, "ring", "direct", "early")
	}
	checkBetween(&p, "inbound.ring_seconds", a.Inbound.RingSeconds, 0, maxRingSeconds)
	checkEngines(&p, a)
	if t := a.SMS; t != nil {
		checkBetween(&p, "sms.timeout_minutes", t.TimeoutMinutes, 1, maxSMSConversationMinutes)
		checkBetween(&p, "sms.max_replies", t.MaxReplies, 1, maxSMSConversationReplies)
	}
	checkConduct(&p, a)
	a.Tools = checkToolNames(&p, "tools", a.Tools)
	a.KnowledgeBaseIDs = checkIDs(&p, "knowledge_base_ids", domain.PrefixKnowledge, a.KnowledgeBaseIDs, MaxAgentBases)
	checkBetween(&p, "limits.silence_seconds", a.Limits.SilenceSeconds, 0, maxSilenceSeconds)
	checkBetween(&p, "limits.max_minutes", a.Limits.MaxMinutes, 0, maxAgentMinutes)
	checkBetween(&p, "limits.max_turns", a.Limits.MaxTurns, 0, domain.MaxTurns)
	return p
}

// checkVoice validates the voice settings of an agent.
func checkVoice(p *domain.Problems, param string, v *domain.Voice) {
	if v.Engine != "" {
		Text(p, param+".engine", v.Engine, false, MaxEngineName)
	}
	Text(p, param+".name", v.Name, false, 64)
	if r := v.Rate; r != 0 && !(r >= MinRate && r <= MaxRate) {
		p.Add(param+".rate", domain.CodeValidation, "must be between 0.5 and 2")
	}
	for i, entry := range atMost(p, param+".pronunciations", v.Pronunciations, MaxPronunciations) {
		Text(p, indexedParam(param+".pronunciations", i)+".word", entry.Word, true, MaxName)
		Text(p, indexedParam(param+".pronunciations", i)+".say", entry.Say, true, MaxName)
	}
}

// checkDestinations validates the transfer destinations of an agent.
func checkDestinations(p *domain.Problems, all []domain.Destination) {
	if len(all) > MaxDestinations {
		p.Add("transfer.destinations", domain.CodeValidation, "has %d entries; %d at most", len(all), MaxDestinations)
		return
	}
	for i, d := range all {
		at := fmt.Sprintf("transfer.destinations[%d]", i)
		Text(p, at+".name", d.Name, true, MaxName)
		Text(p, at+".to", d.To, false, 64)
		Text(p, at+".phone", d.Phone, false, 64)
		if (d.To == "") == (d.Phone == "") {
			p.Add(at, domain.CodeValidation, "one of to and phone is required")
		}
		if d.Mode != "" {
			checkOneOf(p, at+".mode", string(d.Mode), "blind", "attended", "bridge")
		}
		for _, other := range all[:i] {
			if strings.EqualFold(other.Name, d.Name) {
				p.Add(at+".name", domain.CodeValidation, "%q is listed twice", shorten(d.Name))
			}
		}
	}
}
