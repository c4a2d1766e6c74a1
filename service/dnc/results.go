package dnc

import (
	"github.com/callboard/callboard/domain"
)

// DNCImport is the result of an import. Received is the sum of Added, Duplicates and Invalid.
type DNCImport struct { //nolint:revive // the name of its schema in the OpenAPI document
	ListID     string                `json:"dnc_list_id"`
	Received   int                   `json:"received"`
	Added      int                   `json:"added"`
	Duplicates int                   `json:"duplicates"`
	Invalid    int                   `json:"invalid"`
	Errors     []domain.ContactError `json:"errors"` // the first MaxContactErrors errors
}

// DNCFound is a do-not-call list that contains the checked number, and the entry of that number.
type DNCFound struct { //nolint:revive // the name of its schema in the OpenAPI document
	ListID  string `json:"dnc_list_id"`
	Name    string `json:"name"`
	Default bool   `json:"default"`
	domain.DNCEntry
}

// DNCCheck is the result of checking a number against the lists of a workspace.
type DNCCheck struct { //nolint:revive // the name of its schema in the OpenAPI document
	Phone  string     `json:"phone"` // E.164
	Listed bool       `json:"listed"`
	Lists  []DNCFound `json:"lists"`
}
