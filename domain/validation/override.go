package validation

import "github.com/callboard/callboard/domain"

// Overrides adds the problems with the overrides of a call and sets omitted fields to their defaults. Overrides have the
// same rules as the agent's settings.
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

// AMDMode adds a problem if the mode of answering machine detection is invalid.
func AMDMode(p *domain.Problems, param, mode string) {
	checkOneOf(p, param, mode, domain.AMDOff, domain.AMDAsync, domain.AMDWait)
}

// Voicemail validates the action for a call that an answering machine answers.
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
