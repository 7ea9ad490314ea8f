package main

import (
	"fmt"
	"strings"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

// maxLikeErrors is the share of the answers that may look like error messages
// before a judge is asked to grade them.
const maxLikeErrors = 0.1

// answersAreErrors refuses a dataset of whose answers more than that are what
// a system says that has failed.
func answersAreErrors(data dataset.Info) error {
	answers := data.Rows - data.Missing[eval.FieldResponse]
	if float64(data.LikeErrors) <= maxLikeErrors*float64(answers) {
		return nil
	}
	rows := make([]string, len(data.LikeErrorRows))
	for i, row := range data.LikeErrorRows {
		rows[i] = fmt.Sprint(row)
	}
	list := strings.Join(rows, ", ")
	if data.LikeErrors > len(rows) {
		list += ", ..."
	}
	return &exitError{
		code: exitUsage,
		err: fmt.Errorf("%d of %d answers look like error messages of the system that gave them, not like answers (rows %s); no call was made",
			data.LikeErrors, answers, list),
		hint: "get these answers again, or score them as they are with --force (run.force = true)",
	}
}
