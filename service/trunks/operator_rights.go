package trunks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// checkOperatorRights refuses changes of a trunk that take an operator, and sets
// RewriteApproved. was is the zero trunk on create. Errors: operator_required.
func (s *Service) checkOperatorRights(p domain.Principal, was, is *domain.Trunk) error {
	w := s.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil {
		return s.cfg.Workspaces.WorkspaceNotFound()
	}
	if err := checkCostChange(p, was, is); err != nil {
		return err
	}
	if err := checkForeignNational(p, w.DefaultCountry, was, is); err != nil {
		return err
	}
	return approveNumberRewrite(p, was, is)
}

// checkCostChange refuses a change of costs by anybody but an operator:
// daily_spend_cap counts by them. Errors: operator_required.
func checkCostChange(p domain.Principal, was, is *domain.Trunk) error {
	if p.Operator || slices.Equal(was.Costs, is.Costs) {
		return nil
	}
	return &domain.Error{Code: domain.CodeOperatorRequired, Param: "costs", Message: "costs takes an operator key: daily_spend_cap counts by it"}
}

// checkForeignNational lets only operators set number_format national with a
// number_country other than the default_country of the workspace, and change the
// proxies of such a trunk. A carrier of another country reads the national digits
// as another number than the one that the rules for numbers judged. Errors:
// operator_required.
func checkForeignNational(p domain.Principal, defaultCountry string, was, is *domain.Trunk) error {
	if p.Operator || is.NumberFormat != domain.FormatNational || strings.EqualFold(is.NumberCountry, defaultCountry) {
		return nil
	}
	param := changedParam(was, is, "number_country", "number_format", "proxies", "outbound_proxy")
	if param == "" {
		return nil
	}
	return &domain.Error{Code: domain.CodeOperatorRequired, Param: param, Message: fmt.Sprintf(
		"%s takes an operator key where number_format is national and number_country is not default_country of the workspace (%s): another number would ring at a carrier of another country. "+
			"Use number_format e164 or digits, or let an operator change the trunk", param, defaultCountry)}
}

// approveNumberRewrite lets only operators change what number_strip and
// number_add make of the dialled number, and sets RewriteApproved. An operator who
// sets one of the two, or whose change asks for approval, approves. Other proxies
// that somebody else sets end the approval. Errors: operator_required.
func approveNumberRewrite(p domain.Principal, was, is *domain.Trunk) error {
	if is.NumberStrip == "" && is.NumberAdd == "" {
		is.RewriteApproved = false
		return nil
	}
	param := changedParam(was, is, "number_strip", "number_add", "number_format", "number_country")
	switch {
	case p.Operator:
		is.RewriteApproved = was.RewriteApproved || is.RewriteApproved || param != ""
	case param != "":
		return &domain.Error{Code: domain.CodeOperatorRequired, Param: param, Message: param + " takes an operator key where number_strip or number_add is set: they change what is dialled. number_format and number_country alone suit most carriers"}
	default:
		is.RewriteApproved = was.RewriteApproved && changedParam(was, is, "proxies", "outbound_proxy") == ""
	}
	return nil
}

// changedParam is the first of the named parameters of a trunk that a change
// sets to another value; "": none.
func changedParam(was, is *domain.Trunk, names ...string) string {
	for _, name := range names {
		changed := false
		switch name {
		case "number_strip":
			changed = was.NumberStrip != is.NumberStrip
		case "number_add":
			changed = was.NumberAdd != is.NumberAdd
		case "number_format":
			changed = was.NumberFormat != is.NumberFormat
		case "number_country":
			changed = was.NumberCountry != is.NumberCountry
		case "proxies":
			changed = !slices.Equal(was.Proxies, is.Proxies)
		case "outbound_proxy":
			changed = (was.OutboundProxy == nil) != (is.OutboundProxy == nil) || was.OutboundProxy != nil && *was.OutboundProxy != *is.OutboundProxy
		}
		if changed {
			return name
		}
	}
	return ""
}
