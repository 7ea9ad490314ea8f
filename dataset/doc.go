// Package dataset reads samples from files, JSONL, JSON arrays, CSV, TSV and
// Parquet, and writes them as JSONL and Parquet.
//
// It promises three things. Text reaches the caller byte for byte, line ends
// inside quoted CSV fields included. Nothing is dropped or guessed in silence:
// a record that can't be understood is a [LineError] with file, line, row and
// reason, and whatever is accepted but odd is a [Warning] with a count. Memory
// does not grow with the number of samples, but for about 18 bytes a row that the
// search for duplicate ids needs during [Reader.Scan].
//
// # Use
//
//	r, err := dataset.Open("samples.jsonl", dataset.Options{})
//	defer r.Close()
//	info, err := r.Scan() // a whole pass, before any money is spent
//	for {
//		s, err := r.Next() // io.EOF at the end
//	}
//
// Scan reads everything once, reports every problem, and rewinds. The pass
// after it reads exactly the bytes that were scanned: rows appended since are
// left out with a warning, and a file changed in place ends in an error.
//
// # Files
//
// A dataset is a file, or several: [OpenFiles] takes paths and patterns (see
// [Expand]), of any mix of formats, and numbers the samples through. Ids must
// be unique over all of them, and every error names the file that it is in.
//
// Files packed with gzip or zstd are unpacked, however they are called, several
// streams in one file and one packing in another included; a stream that is cut
// off is an error once its rows are read. Options.MaxRecord holds for what is
// unpacked, so that a small file can't take a large memory.
//
// Text is UTF-8, with or without a byte order mark, or UTF-16 or UTF-32, told by
// the mark or by the NULs between plain letters. Options.Encoding names any
// other encoding; without it bytes that are not UTF-8 are an error with line
// and position, and with it so are bytes that it doesn't have.
//
// # Formats
//
// The format is told by content, not by the file's ending. JSONL is one object
// a line; blank lines, CRLF, a byte order mark and a missing last newline are
// fine. Objects printed over several lines, one after another, and a file that
// is one JSON array are understood too, whatever the file is called. JSON is
// read strictly: a name given twice in one record, a trailing comma, NaN,
// bytes that are not UTF-8 are errors. Lines are decoded in several goroutines,
// some hundred kilobytes ahead. The halves of a surrogate pair that
// stand alone can't be kept in UTF-8; they become U+FFFD, with a warning.
//
// CSV follows RFC 4180, with the delimiter found by the known columns of the
// header, and by the records below that have as many fields; a line "sep=;"
// above the header says it. What fits two delimiters alike is an error. Unlike encoding/csv it keeps CRLF
// inside quoted fields as CRLF, so that text is the same text in CSV and in
// JSONL. A quote in the middle of an unquoted field is text. A row with
// another number of fields than the header is an error, and so is one that
// repeats the header.
//
// Parquet is read row group by row group, in the types and list layouts that
// pyarrow, Hugging Face datasets, Spark and DuckDB write; a row becomes the JSON
// object that it stands for. Whole numbers keep their digits, times are ISO
// 8601, NaN, which pandas writes for a gap, is null, and bytes that are no text
// are {"base64": ...}. A damaged file is an error with the row group.
//
// Whatever else a file may be (a spreadsheet, an archive, a database, a page of
// HTML) is recognised and refused with a message that says what it is.
//
// # Columns
//
// The canonical fields, in snake case, are those of [eval.Sample]; [Aliases]
// lists the other names. Upper and lower case, and the separators _, - and
// space, make no difference, so camelCase is accepted for every name. Two
// columns for one field, and two names that differ in case only, are an error
// that names both; Options.Columns settles which one is meant. Every column
// without a field is kept raw in Metadata (a CSV cell as a JSON string). The
// members of an object called "metadata" are kept there one by one, and where
// such a name is taken by a column, as "metadata.name".
//
// A name in Options.Columns may be a path into objects, "inputs.question", be
// they nested or written as JSON or a Python dict in a text. The members beside
// it are kept in Metadata by their paths.
//
// # Shapes
//
// The records of DeepEval, promptfoo, TruLens, Phoenix, LangSmith, Langfuse,
// Ragas test sets, BEIR and SQuAD are recognised by the names in the first
// record of a file, and Info.Shape says so. Where two readings are possible,
// such as the outputs of LangSmith, which a dataset's example calls the
// reference and a run the answer, the error names both and Options.Format
// settles it. A file that is one JSON object with the records in a list
// ("test_cases", "results.results", "data") is read one record at a time; what
// stands beside the list is told by a warning. docs/data.md lists every shape.
//
// # Values
//
// Text fields take text, numbers and booleans (as they are written: an id of
// 9007199254740993 stays that); null and blank mean missing; a list or an
// object is an error. A reference may be a list of one text. A text that is
// nothing but nan, None or null stays, with a warning.
//
// retrieved_contexts takes a list of texts, a list of objects with text (or
// content, page_content; chunk, passage, body, document where none of those is
// there) and perhaps id (or doc_id, chunk_id), either of them written as a JSON
// or Python list inside a string, LangChain's Document(...) as Python prints
// it, or plain text, which is one context. Text that begins with [ must be such
// a list; one that NumPy printed, or that was cut with ..., is an error, since
// data is missing there. No such column means missing; null,
// "" and [] mean that nothing was retrieved. (With ids in another column, null
// and "" mean that the texts were not recorded.) The ids inside contexts
// become retrieved_context_ids; where that column is given as well they must
// agree. If only some contexts have an id, none is taken, with a warning.
//
// Id lists take texts and numbers. reference_context_ids takes a list (grade
// 1 each) or an object from id to grade. For ids, and for reference_contexts,
// null and blank mean missing, [] and {} mean known to be empty.
//
// # Ids
//
// A record without an id gets "sha256-" and 16 hexadecimal digits of a hash
// over its question, response, contexts, reference and context ids, so that
// the order of a file does not matter; category and metadata do not enter. A
// further record with the very same content gets "#2" appended, then "#3".
// Runs of two systems can only be paired by ids that the dataset gives. Two
// records with the same given id are an error that names both; 7 and "7" are
// the same id.
package dataset
