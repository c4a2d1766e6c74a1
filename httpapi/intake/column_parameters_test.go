package intake_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/intake"
)

func TestNamedColumnsAreUsed(t *testing.T) {
	t.Parallel()
	const bom = "\ufeff"
	for name, c := range map[string]struct {
		text string
		as   intake.ColumnNames
		want map[string]string // the key "" is the phone
	}{
		"semicolons, BOM and different case": {
			bom + "Mobile No;Phone;Who\n+12025550123;office;Ada\n",
			intake.ColumnNames{"phone": " mobile no", "name": "WHO", "timezone": ""},
			map[string]string{"": "+12025550123", "name": "Ada", "file_phone": "office"},
		},
		"two exchanged columns":          {"phone,name\nAda,+12025550123\n", intake.ColumnNames{"phone": "name", "name": "phone"}, map[string]string{"": "+12025550123", "name": "Ada"}},
		"exact name before another case": {"tel,TEL\n+12025550123,old\n", intake.ColumnNames{"phone": "tel"}, map[string]string{"": "+12025550123", "TEL": "old"}},
		"invisible characters":           {"\u200bTel\u00a0,x\n+12025550123,y\n", intake.ColumnNames{"phone": "\ufeffTel "}, map[string]string{"": "+12025550123", "x": "y"}},
		"script and formula in names":    {"\"<script>alert(1)</script>\",\"=cmd|' /C calc'!A0\"\n+12025550123,y\n", intake.ColumnNames{"phone": "<script>alert(1)</script>"}, map[string]string{"": "+12025550123", "=cmd|' /C calc'!A0": "y"}},
		"quotes, commas and lines":       {"\"Tel, \"\"mobile\"\"\nof him\",x\n+12025550123,y\n", intake.ColumnNames{"phone": "Tel, \"mobile\"\nof him"}, map[string]string{"": "+12025550123", "x": "y"}},
		"column with the default name":   {"phone,x\n+12025550123,y\n", intake.ColumnNames{"phone": "phone"}, map[string]string{"": "+12025550123", "x": "y"}},
	} {
		got, err := readAll(intake.CSVWithColumns(strings.NewReader(c.text), &intake.Columns{Named: c.as}))
		require.NoError(t, err, name)
		require.Len(t, got, 1, name)
		assert.Empty(t, got[0].Problem, name)
		have := map[string]string{"": got[0].Phone}
		for key := range got[0].Context {
			have[key], _ = got[0].Context.Text(key)
		}
		assert.Equal(t, c.want, have, name)
	}
}

func TestUnknownAndRepeatedColumnsAreReportedByParameter(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		as   intake.ColumnNames
		says map[string]string
	}{
		"phone,Who\n": {
			intake.ColumnNames{"phone": "gone", "country": "Who", "name": "who"},
			map[string]string{"phone_column": `the file has no column "gone"`, "name_column": `the column "who" is already used for country`},
		},
		"Tel,TEL,x\n":        {intake.ColumnNames{"phone": "tel"}, map[string]string{"phone_column": `the file has 2 columns named "tel"`}},
		"Tel,Tel\n":          {intake.ColumnNames{"phone": "Tel"}, map[string]string{"phone_column": `the file has 2 columns named "Tel"`}},
		"tel,phone\n":        {intake.ColumnNames{"name": "tel"}, nil},
		"tel,x\n":            {intake.ColumnNames{"name": "tel"}, map[string]string{"header": "the first row must name the columns, including phone"}},
		"a,file_phone,phone": {intake.ColumnNames{"phone": "a"}, map[string]string{"header": `the columns "file_phone" and "phone" both hold "file_phone": rename or remove one of them`}},
		"Phone,PHONE ,x\n":   {nil, map[string]string{"header": `the columns "Phone" and "PHONE" both hold "phone": rename or remove one of them`}},
	} {
		_, err := readAll(intake.CSVWithColumns(strings.NewReader(text), &intake.Columns{Named: c.as}))
		if c.says == nil {
			require.NoError(t, err, text)
			continue
		}
		var known *domain.Error
		require.ErrorAs(t, err, &known, text)
		problems := map[string]string{}
		for _, d := range known.Details {
			problems[d.Param] = d.Message
		}
		assert.Equal(t, c.says, problems, text)
	}
}

func TestHeadersMatchVariablesWithoutCaseSpacesAndPunctuation(t *testing.T) {
	t.Parallel()
	variables := []string{"first_name", "visitDay", "city"}
	for header, want := range map[string]domain.ColumnMapping{
		"Phone,Name,First Name": {
			Columns:  map[string]string{"Phone": "phone", "Name": "name", "First Name": "first_name"},
			Unmapped: []string{}, Missing: []string{"visitDay", "city"},
		},
		" PHONE ;FIRST_NAME;VISIT DAY;CITY.": {
			Columns:  map[string]string{"PHONE": "phone", "FIRST_NAME": "first_name", "VISIT DAY": "visitDay", "CITY.": "city"},
			Unmapped: []string{}, Missing: []string{},
		},
		"phone,first-name,Time Zone,COUNTRY,Shoe Size,shoe size": {
			Columns:  map[string]string{"phone": "phone", "first-name": "first_name", "Time Zone": "timezone", "COUNTRY": "country"},
			Unmapped: []string{"Shoe Size", "shoe size"}, Missing: []string{"visitDay", "city"},
		},
	} {
		columns := &intake.Columns{Variables: variables}
		_, err := readAll(intake.CSVWithColumns(strings.NewReader(header+"\n"), columns))
		require.NoError(t, err, header)
		assert.Equal(t, want, columns.Mapping, header)
	}
	for header, says := range map[string]string{
		"phone,First Name,first_name": `the columns "First Name" and "first_name" both hold "first_name": rename or remove one of them`,
		"phone,name,Name":             `the columns "name" and "Name" both hold "name": rename or remove one of them`,
	} {
		_, err := readAll(intake.CSVWithColumns(strings.NewReader(header+"\n"), &intake.Columns{Variables: variables}))
		var known *domain.Error
		require.ErrorAs(t, err, &known, header)
		assert.Equal(t, domain.CodeValidation, known.Code, header)
		assert.Contains(t, known.Details[0].Message, says, header)
	}
	got, err := readAll(intake.CSVWithColumns(strings.NewReader("Phone,First Name,Shoe Size\n1,Ada,nine\n"), &intake.Columns{Variables: variables}))
	require.NoError(t, err)
	assert.Equal(t, domain.Context{"first_name": "Ada", "Shoe Size": "nine"}, got[0].Context)
}
