package validation

import "github.com/callboard/callboard/domain"

// Overrides records all problems with call overrides and sets omitted fields to their defaults. The rules are those
// of agents.
func Overrides(p *domain.Problems, o *domain.CallOverrides) {
	if o.Analysis != nil {
		setFieldDefaults(o.Analysis.Fields)
	}
	valid := domain.Agent{Name: "agent", FirstMessage: "Hello.", Language: "en-US", Timezone: "UTC"}
	a := o.ApplyTo(valid)
	for _, problem := range Agent(&a) {
		problem.Param = "overrides." + problem.Param
		*p = append(*p, problem)
	}
}

// AMDMode checks the mode of answering machine detection of a call.
func AMDMode(p *domain.Problems, param, mode string) {
	checkOneOf(p, param, mode, domain.AMDOff, domain.AMDAsync, domain.AMDWait)
}

// Voicemail checks the answering machine action of a call.
func Voicemail(p *domain.Problems, param string, c *domain.CallAMD) {
	checkOneOf(p, param+".action", c.Action, domain.AMDHangup, domain.AMDMessage, domain.AMDContinue)
	Prose(p, param+".message", c.Message, MaxFirstMessage)
	if c.Message != "" && c.Action != domain.AMDMessage {
		p.Add(param+".message", domain.CodeValidation, "requires the action leave_message")
	}
	if c.Mode == domain.AMDOff && c.Action != "" && c.Action != domain.AMDContinue {
		p.Add(param+".action", domain.CodeValidation, "requires amd.mode async or wait: off disables answering machine detection")
	}
}
