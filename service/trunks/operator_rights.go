package trunks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// checkOperatorRights returns an error if a change of a trunk requires an operator, and sets RewriteApproved. was is
// the trunk before the change, or the zero trunk if the trunk is new. Errors: operator_required.
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

// checkCostChange returns an error if a principal other than an operator changes the costs, because daily_spend_cap
// depends on them. Errors: operator_required.
func checkCostChange(p domain.Principal, was, is *domain.Trunk) error {
	if p.Operator || slices.Equal(was.Costs, is.Costs) {
		return nil
	}
	return &domain.Error{Code: domain.CodeOperatorRequired, Param: "costs", Message: "costs requires an operator key, because daily_spend_cap depends on it"}
}

// checkForeignNational protects trunks with number_format national and a number_country other than the default_country
// of the workspace. Only operators may set up such a trunk or change its proxies. A carrier of another country could
// read the national digits as a different number than the one that the destination rules checked. Errors:
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

// approveNumberRewrite returns an error if a principal other than an operator changes number_strip or number_add,
// which rewrite the dialed number. It also sets RewriteApproved: a change by an operator approves the rewrite, and
// new proxies set by other principals end the approval. Errors: operator_required.
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
		return &domain.Error{Code: domain.CodeOperatorRequired, Param: param, Message: param + " requires an operator key while number_strip or number_add is set, because these change the dialed number. Most carriers need only number_format and number_country"}
	default:
		is.RewriteApproved = was.RewriteApproved && changedParam(was, is, "proxies", "outbound_proxy") == ""
	}
	return nil
}

// changedParam returns the first of the named trunk fields that differs between was and is; "" if none differs.
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
