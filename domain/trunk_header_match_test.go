package domain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
)

func TestTrunkMatchComparesHeaderOrParameter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		match  *domain.TrunkMatch
		fields map[string]string
		want   bool
	}{
		"no match takes every call":        {nil, nil, true},
		"a header":                         {&domain.TrunkMatch{Header: "X-Trunk-ID", Value: "acme"}, map[string]string{"x-trunk-id": "acme"}, true},
		"in other letters":                 {&domain.TrunkMatch{Header: "x-trunk-id", Value: "Acme"}, map[string]string{"x-trunk-id": "aCME"}, true},
		"another value":                    {&domain.TrunkMatch{Header: "X-Trunk-ID", Value: "acme"}, map[string]string{"x-trunk-id": "acme2"}, false},
		"another header":                   {&domain.TrunkMatch{Header: "X-Trunk-ID", Value: "acme"}, map[string]string{"x-trunk": "acme"}, false},
		"no headers":                       {&domain.TrunkMatch{Header: "X-Trunk-ID", Value: "acme"}, nil, false},
		"a header that occurs twice":       {&domain.TrunkMatch{Header: "X-Trunk-ID", Value: "acme"}, map[string]string{"x-trunk-id": ""}, false},
		"a trunk group":                    {&domain.TrunkMatch{Header: "Contact", Parameter: "tgrp", Value: "tg-7"}, map[string]string{"contact": ";tgrp=tg-7;trunk-context=carrier.example"}, true},
		"an escaped trunk group":           {&domain.TrunkMatch{Header: "Contact", Parameter: "tgrp", Value: "tg;7"}, map[string]string{"contact": ";tgrp=tg%3B7"}, true},
		"an escaped second parameter":      {&domain.TrunkMatch{Header: "Contact", Parameter: "tgrp", Value: "tg-7"}, map[string]string{"contact": ";a=b%3Btgrp%3Dtg-7"}, false},
		"a parameter that occurs twice":    {&domain.TrunkMatch{Header: "Contact", Parameter: "tgrp", Value: "tg-7"}, map[string]string{"contact": ";tgrp=tg-8;tgrp=tg-7"}, false},
		"a parameter of a header with URI": {&domain.TrunkMatch{Header: "P-Charge-Info", Parameter: "otg", Value: "g"}, map[string]string{"p-charge-info": "<sip:+1202@h;otg=g>;npi=1"}, true},
		"a quoted parameter":               {&domain.TrunkMatch{Header: "X-Info", Parameter: "id", Value: "g"}, map[string]string{"x-info": `a;id="g"`}, true},
		"a parameter without a value":      {&domain.TrunkMatch{Header: "X-Info", Parameter: "id", Value: "g"}, map[string]string{"x-info": "a;id"}, false},
	} {
		assert.Equal(t, c.want, c.match.Matches(c.fields), name)
	}
}
