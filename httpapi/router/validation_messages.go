package router

import (
	"strings"

	"github.com/danielgtaylor/huma/v2/validation"
)

// setValidationMessages sets the error messages of huma's schema validation. A client sees each message after the name
// of the member, so that both form a sentence.
func setValidationMessages() {
	for text, message := range map[*string]string{
		&validation.MsgUnexpectedProperty:             "is not a known member",
		&validation.MsgExpectedRequiredProperty:       "%s" + missingSuffix,
		&validation.MsgExpectedRFC3339DateTime:        "must be an RFC 3339 time (e.g. 2026-01-31T09:30:00Z)",
		&validation.MsgExpectedRFC3339Date:            "must be a date (e.g. 2026-01-31)",
		&validation.MsgExpectedMatchAtLeastOneSchema:  "matches none of the allowed forms",
		&validation.MsgExpectedMatchExactlyOneSchema:  "matches none of the allowed forms",
		&validation.MsgExpectedBoolean:                "must be true or false",
		&validation.MsgExpectedNumber:                 "must be a number",
		&validation.MsgExpectedInteger:                "must be an integer",
		&validation.MsgExpectedString:                 "must be a string",
		&validation.MsgExpectedArray:                  "must be a list",
		&validation.MsgExpectedObject:                 "must be an object",
		&validation.MsgExpectedArrayItemsUnique:       "must not contain duplicate entries",
		&validation.MsgExpectedOneOf:                  "must be one of %s",
		&validation.MsgExpectedConst:                  "must be %v",
		&validation.MsgExpectedMinimumNumber:          "must be at least %v",
		&validation.MsgExpectedExclusiveMinimumNumber: "must be more than %v",
		&validation.MsgExpectedMaximumNumber:          "must be at most %v",
		&validation.MsgExpectedExclusiveMaximumNumber: "must be less than %v",
		&validation.MsgExpectedMinLength:              "must have at least %d characters",
		&validation.MsgExpectedMaxLength:              "must have at most %d characters",
		&validation.MsgExpectedMatchPattern:           "must match the pattern %s",
		&validation.MsgExpectedMinItems:               "must have at least %d entries",
		&validation.MsgExpectedMaxItems:               "must have at most %d entries",
		&validation.MsgExpectedMinProperties:          "must have at least %d entries",
		&validation.MsgExpectedMaxProperties:          "must have at most %d entries",
	} {
		*text = message
	}
}

const missingSuffix = " is required"

// splitMissingMember returns the path and the message of a missing member. huma reports a missing member for its
// parent object (param) and puts the member name into the message. Other messages are returned unchanged.
func splitMissingMember(param, message string) (at, text string) {
	name, ok := strings.CutSuffix(message, missingSuffix)
	switch {
	case !ok || name == "":
		return param, message
	case param == "":
		return name, strings.TrimSpace(missingSuffix)
	}
	return param + "." + name, strings.TrimSpace(missingSuffix)
}
