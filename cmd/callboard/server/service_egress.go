package server

import (
	"github.com/callboard/callboard/cmd/callboard/egress"
	"github.com/callboard/callboard/domain/access"
)

func (s *Service) egress() access.Egress { return egress.Rules(s.cfg, s.options.Allow, s.Front) }
