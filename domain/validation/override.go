package validation

import "github.com/callboard/callboard/domain"

// Overrides finds everything that is wrong with what a call has otherwise than
// its agent, and fills in what was left out: the rules are those of agents.
func Overrides(p *domain.Problems, o *domain.CallOverrides) {
	if o.Analysis != nil {
		setFieldDefaults(o.Analysis.Fields)
	}
	sound := domain.Agent{Name: "agent", FirstMessage: "Hello.", Language: "en-US", Timezone: "UTC"}
	a := o.ApplyTo(sound)
	for _, problem := range Agent(&a) {
		problem.Param = "overrides." + problem.Param
		*p = append(*p, problem)
	}
}

// AMDMode checks how a call finds out who has answered.
func AMDMode(p *domain.Problems, param, mode string) {
	checkOneOf(p, param, mode, domain.AMDOff, domain.AMDAsync, domain.AMDWait)
}

// Voicemail checks what a call does about a machine that has answered.
func Voicemail(p *domain.Problems, param string, c *domain.CallAMD) {
	checkOneOf(p, param+".action", c.Action, domain.AMDHangup, domain.AMDMessage, domain.AMDContinue)
	Prose(p, param+".message", c.Message, MaxFirstMessage)
	if c.Message != "" && c.Action != domain.AMDMessage {
		p.Add(param+".message", domain.CodeValidation, "is left with action leave_message only")
	}
	if c.Mode == domain.AMDOff && c.Action != "" && c.Action != domain.AMDContinue {
		p.Add(param+".action", domain.CodeValidation, "takes amd.mode async or wait: with off nobody listens for machines")
	}
}
