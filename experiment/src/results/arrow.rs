//! Tables as Arrow: columns of text, unsigned integers and double precision, all of which may have holes, as in the
//! Parquet files.

use crate::results::held::Kind;
use crate::results::rows::{Table, tables};
use crate::results::schema::Results;
use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use serde_json::Value;
use std::sync::Arc;

/// A batch ends with the run that reaches this number of rows, so that no batch of a large table takes gigabytes.
const BATCH_ROWS: usize = 100_000;

/// Names and types of a table's columns.
pub fn schema(table: &Table<'_>) -> Schema {
    let field = |(name, kind): &(String, Kind)| {
        let held = match kind {
            Kind::Text => DataType::Utf8,
            Kind::Integer => DataType::UInt64,
            Kind::Float => DataType::Float64,
        };
        Field::new(name, held, true)
    };
    Schema::new(table.columns.iter().map(field).collect::<Vec<Field>>())
}

/// A table of results in batches, each made when it is asked for.
pub struct Batches {
    results: Arc<Results>,
    table: &'static str,
    schema: SchemaRef,
    /// The first run of the next batch.
    run: usize,
}

impl Batches {
    /// The batches of the table of this name; `None` where there is no such table.
    pub fn of(results: &Arc<Results>, table: &str) -> Option<Batches> {
        let found = tables(results).find(|known| known.name == table)?;
        let (table, schema) = (found.name, Arc::new(schema(&found)));
        Some(Batches { results: Arc::clone(results), table, schema, run: 0 })
    }

    fn batch(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        let table = tables(&self.results).find(|known| known.name == self.table)?;
        let mut columns: Vec<Column> = table.columns.iter().map(|(_, kind)| Column::new(*kind)).collect();
        let mut rows = 0;
        while self.run < self.results.runs.len() && rows < BATCH_ROWS {
            for row in table.rows_of(self.run) {
                columns.iter_mut().zip(&row).for_each(|(column, value)| column.put(value));
                rows += 1;
            }
            self.run += 1;
        }
        let arrays = columns.into_iter().map(Column::array).collect();
        (rows > 0).then(|| RecordBatch::try_new(Arc::clone(&self.schema), arrays))
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A column under way.
enum Column {
    Text(StringBuilder),
    Integer(UInt64Builder),
    Float(Float64Builder),
}

impl Column {
    fn new(kind: Kind) -> Column {
        match kind {
            Kind::Text => Column::Text(StringBuilder::new()),
            Kind::Integer => Column::Integer(UInt64Builder::new()),
            Kind::Float => Column::Float(Float64Builder::new()),
        }
    }

    fn put(&mut self, value: &Value) {
        match self {
            Column::Text(column) => column.append_option(value.as_str()),
            Column::Integer(column) => column.append_option(value.as_u64()),
            Column::Float(column) => column.append_option(value.as_f64()),
        }
    }

    fn array(self) -> ArrayRef {
        match self {
            Column::Text(mut column) => Arc::new(column.finish()),
            Column::Integer(mut column) => Arc::new(column.finish()),
            Column::Float(mut column) => Arc::new(column.finish()),
        }
    }
}
